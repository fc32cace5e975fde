// A ring whose files somebody scribbled over, met by an observer, an operator, a consumer or the next
// producer. Input: who comes, the ring's shape, then scribbles; late ones are made when it is attached.

#include <numeric>
#include <system_error>

#include "ctl/ring_report.hpp"
#include "ctl/ring_watch.hpp"
#include "shm/descriptor.hpp"
#include "shm/janitor.hpp"
#include "shm/ready_queue.hpp"
#include "shm/ring_owner.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/fuzzed_ring.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/shm/support.hpp"

namespace tailrace::fuzzing {
namespace {

constexpr std::chrono::nanoseconds kNoSpin{0};
constexpr std::size_t kMaxLeases = 8;

enum class Visitor : std::uint8_t { kObserver, kOperator, kConsumer, kProducer, kCount };

struct Input {
  Visitor visitor = Visitor::kObserver;
  RingShape shape;
  std::vector<Scribble> early;
  std::vector<Scribble> late;
};

Input parse(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  Input input;
  input.visitor =
      static_cast<Visitor>(reader.take<std::uint8_t>() % static_cast<std::uint8_t>(Visitor::kCount));
  const auto shape = reader.take<std::uint8_t>();
  input.shape = {1U + shape % 4, std::size_t{1} + shape / 4 % 2, shape / 8 % 4 == 3};
  while (!reader.empty()) {
    const Scribble scribble = take_scribble(reader);
    (scribble.late ? input.late : input.early).push_back(scribble);
  }
  return input;
}

/// Reads every byte of it; the sum keeps the compiler from leaving that out.
void touch(std::span<const std::byte> bytes) {
  const auto sum = std::accumulate(
      bytes.begin(), bytes.end(), std::uint64_t{0},
      [](std::uint64_t total, std::byte b) { return total + std::to_integer<std::uint64_t>(b); });
  require(sum <= 255 * bytes.size(), "the bytes can be read");
}

void read_batch(std::span<const std::byte> slot, const RingGeometry& geometry) {
  require(slot.size() == geometry.slot_bytes, "a slot has the size that was attached");
  (void)read_stamps(slot);
  touch(slot.first(std::min<std::size_t>(read_used_bytes(slot), 1 << 16)));
  try {
    for (const TensorView& tensor : read_descriptor(slot).tensors) touch(tensor.bytes);
  } catch (const DamagedDescriptor&) {  // NOLINT(bugprone-empty-catch): said so, as it should
  }
}

void read_slots(const Ring& ring) {
  for (std::uint32_t s = 0; ring.has_data() && s < ring.geometry().slot_count; ++s)
    read_batch(ring.slot(SlotId{s}), ring.geometry());
}

bool observe(const FuzzedRing& files, std::span<const Scribble> late) {
  const RingReport report = report_on(files.files(), "test");
  require(report.readable() || !report.detail.empty() || report.attach != AttachState::kReady,
          "what cannot be read says why");
  const AttachAnswer answer = look_at_ring(files.files(), RingAccess::kObserver);
  if (!answer.ring) return false;
  files.scribble(late);
  const Ring& ring = *answer.ring;
  require(ring.geometry().groups.size() <= kMaxGroups, "groups");
  read_slots(ring);
  (void)published_batches(ring);
  (void)ring.protocol().count_unfinished();
  (void)nothing_done(ring);
  if (ring.has_data()) (void)start_of(ring);
  return true;
}

bool operate(const FuzzedRing& files, std::span<const Scribble> late) {
  const AttachAnswer answer = look_at_ring(files.files(), RingAccess::kOperator);
  if (answer.ring) request_drain(*answer.ring);
  files.scribble(late);
  const auto holder = clean_ring(files.files());
  require(!holder, "a ring without a living process can be cleaned: " + holder.value_or(""));
  return answer.ring.has_value();
}

void consume(const Ring& ring, GroupId group) {
  const auto participant = Participant::join(ring, group);
  require(participant.has_value(), "there is room for a consumer");
  Janitor janitor(ring, participant->id(), {});
  ReadyQueue queue(ring, group, *participant, janitor, kNoSpin);
  for (std::size_t i = 0; i < kMaxLeases; ++i) {
    Lease lease;
    if (queue.try_lease(lease) != LeaseOutcome::kLeased && janitor.do_work() == 0) return;
    if (!lease) continue;
    require(index_of(lease.slot()) < ring.geometry().slot_count, "a lease is of a slot");
    read_batch(lease.bytes(), ring.geometry());
    (void)lease.is_quarantine();
    (void)lease.is_reason_only();
    if (i % 3 == 0) (void)lease.give_back();
    if (i % 3 == 1) (void)lease.commit();
  }
}

bool consume(const FuzzedRing& files, std::span<const Scribble> late) {
  const AttachAnswer answer = attach_ring(files.files(), RingAccess::kConsumer);
  if (!answer.ring) return false;
  files.scribble(late);
  for (std::uint32_t g = 0; g < answer.ring->geometry().groups.size(); ++g) consume(*answer.ring, GroupId{g});
  read_slots(*answer.ring);
  return true;
}

bool produce(const FuzzedRing& files, std::span<const Scribble> late) {
  try {
    const RingOwner owner(
        files.files(), files.spec(), [](const std::string&) {}, [] { return true; });
    const bool taken_over = owner.taken_over();
    files.scribble(late);
    Janitor janitor(owner.ring(), owner.participant().id(), {});
    FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
    for (std::uint64_t i = 0; i < 2; ++i)
      (void)testing::publish_batch(queue, value_of(owner.start().next) + i);
    owner.set_finished();
    owner.remove_files();
    return taken_over;
  } catch (const RingMismatch&) {
    return false;
  } catch (const RingBusy&) {  // it waits for consumers, and is told not to
    return false;
  }
}

bool visit(const Input& input) {
  const FuzzedRing files(input.shape, input.early);
  try {
    switch (input.visitor) {
      case Visitor::kObserver:
        return observe(files, input.late);
      case Visitor::kOperator:
        return operate(files, input.late);
      case Visitor::kConsumer:
        return consume(files, input.late);
      case Visitor::kProducer:
        return produce(files, input.late);
      case Visitor::kCount:
        break;
    }
  } catch (const std::system_error& error) {
    // attach_ring's answer to sizes that no address space has.
    require(error.code() == std::errc::not_enough_memory, error.what());
  }
  return false;
}

std::string seed_of(Visitor visitor, std::uint8_t shape, const std::vector<Scribble>& scribbles = {}) {
  std::string input;
  append(input, visitor);
  append(input, shape);
  for (const Scribble& scribble : scribbles) append_scribble(input, scribble);
  return input;
}

}  // namespace

bool run_one(std::span<const std::byte> input) { return visit(parse(input)); }

std::vector<std::string> seeds() {
  constexpr std::uint8_t kThreeSlots = 2;
  constexpr std::uint8_t kFourSlotsTwoGroups = 7;
  constexpr std::uint8_t kRetired = 0x1e;
  const auto state = static_cast<std::uint64_t>(RingState::kFinished);
  const auto late = [](Part part, std::uint16_t offset, std::uint64_t value) {
    return Scribble{part, 8, offset, 0, value, true};
  };
  std::vector<std::string> all;
  for (const Visitor visitor :
       {Visitor::kObserver, Visitor::kOperator, Visitor::kConsumer, Visitor::kProducer})
    for (const std::uint8_t shape : {kThreeSlots, kFourSlotsTwoGroups})
      all.push_back(seed_of(visitor, shape));
  for (const Visitor visitor : {Visitor::kObserver, Visitor::kOperator, Visitor::kConsumer}) {
    all.push_back(seed_of(visitor, kRetired));
    all.push_back(seed_of(visitor, kFourSlotsTwoGroups,
                          {{Part::kHeader, 4, offsetof(ControlHeader, ring_state), 0, state, false},
                           late(Part::kHeader, offsetof(ControlHeader, slot_count), UINT64_MAX),
                           late(Part::kGroupWords, 8, encode(pending_word(BatchSeq{2}, 31))),
                           late(Part::kSlots, 8, UINT64_MAX)}));
  }
  return all;
}

std::vector<std::string> dictionary() {
  std::vector<std::string> words;
  const auto add = [&](std::uint64_t value) { append(words.emplace_back(), value); };
  for (const std::uint64_t seq : {0, 1, 2, 3}) {
    add(encode(free_word(BatchSeq{seq})));
    add(encode(filling_word(BatchSeq{seq})));
    add(encode(ready_word(BatchSeq{seq})));
    add(encode(pending_word(BatchSeq{seq}, 1)));
    add(encode(GroupWord{GroupState::kLeased, 1, ParticipantId{1}, 1, BatchSeq{seq}}));
  }
  add(kSeqMask);
  add(kLayoutVersion);
  return words;
}

}  // namespace tailrace::fuzzing
