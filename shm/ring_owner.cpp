#include "shm/ring_owner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "shm/clock.hpp"
#include "shm/descriptor.hpp"
#include "shm/ring_making.hpp"

namespace tailrace {
namespace {

constexpr int kWaitMs = 50;

std::size_t count_unfinished(const Ring& ring) {
  std::size_t count = 0;
  const SlotProtocol protocol = ring.protocol();
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s) {
    const ProducerWord word = protocol.producer_word(SlotId{s});
    bool done = true;
    for (std::uint32_t g = 0; g < ring.geometry().groups.size(); ++g)
      done = done && protocol.group_word(SlotId{s}, GroupId{g}) == done_word(word.seq);
    count += word.state == ProducerState::kReady && !done ? 1 : 0;
  }
  return count;
}

bool same_job(const RingGeometry& ring, const RingSpec& spec) {
  return ring.job_digest == spec.job_digest && ring.groups == spec.groups &&
         ring.batch_count == spec.batch_count;
}

bool fits(const Ring& ring, const RingSpec& spec) {
  const BatchSeq last_start{kSeqMask - (1U << 20)};
  return ring.geometry().slot_count == spec.slot_count && ring.geometry().slot_bytes >= spec.slot_bytes &&
         start_of(ring).next_seq < last_start;
}

// Some participant's lock byte is held; asked without knowing anything of the file's layout.
bool is_in_use(const std::filesystem::path& control) {
  UniqueFd fd(open(control.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return false;
  for (std::size_t i = 0; i < kMaxParticipants; ++i)
    if (is_byte_locked(fd.get(), static_cast<off_t>(i))) return true;
  return false;
}

std::string name_of(const Ring& ring, ParticipantId id) {
  const auto identity = identity_of(ring.participants()[index_of(id)]);
  return "pid " + std::to_string(identity.pid);
}

// Entries whose lock byte is held by somebody.
std::vector<ParticipantId> holders(const Ring& ring) {
  const LockLiveness liveness(ring);
  std::vector<ParticipantId> held;
  for (std::uint32_t i = 0; i < kMaxParticipants; ++i)
    if (liveness.is_held(ParticipantId{i})) held.push_back(ParticipantId{i});
  return held;
}

ProducerRole take_role(const RingFiles& files, const RingSpec& spec) {
  check_spec(spec);
  auto role = ProducerRole::try_take(files);
  if (!role)
    throw RingBusy("pipeline '" + spec.name +
                   "' has a producer already: " + ProducerRole::describe_holder(files));
  return std::move(*role);
}

void refuse_other_job(const Ring& ring, const RingSpec& spec) {
  if (same_job(ring.geometry(), spec)) return;
  const std::size_t count = count_unfinished(ring);
  if (count != 0)
    throw RingMismatch(
        "the ring of pipeline '" + spec.name + "' still holds " + std::to_string(count) +
        " unfinished batches of another job (its items, batches or groups differ); finish that job, "
        "or discard it with `tailrace clean " +
        spec.name + "`");
}

// Waits until `done`, saying so once, and who is in the ring.
void wait_for(const std::string& what, const RingOwner::Progress& progress,
              const RingOwner::ShouldStop& should_stop, const Ring& ring, const std::function<bool()>& done) {
  std::string said;
  while (!done()) {
    const auto held = holders(ring);
    const std::string text =
        "waiting for " + what +
        (held.empty() ? "; nobody is there" : "; " + name_of(ring, held.front()) + " is there");
    if (text != said) progress(text);
    said = text;
    if (should_stop()) throw RingBusy("stopped while waiting for " + what);
    const std::uint32_t ticket = ring.free_events().prepare();
    ring.free_events().wait(ticket, std::chrono::milliseconds(kWaitMs), std::chrono::nanoseconds(0));
  }
}

// Going on from a scribbled cursor would skip the rest of the job in silence.
void refuse_damage(const Ring& ring) {
  const std::uint64_t next = value_of(start_of(ring).next);
  const std::uint64_t count = ring.geometry().batch_count;
  std::optional<std::string> damage = ring.protocol().find_damage(kMaxParticipants);
  if (!damage && count != 0 && next > count)
    damage = "cursor is " + std::to_string(next) + ", the job has " + std::to_string(count) + " batches";
  if (damage)
    throw RingMismatch("the ring of pipeline '" + ring.geometry().name + "' is damaged: " + *damage +
                       "; remove it with `tailrace clean " + ring.geometry().name + "`");
}

// Waits until the process whose DMA may still run is provably gone. False: that cannot be proven from here.
bool outlive_predecessor(const Ring& ring, const RingOwner::Progress& progress,
                         const RingOwner::ShouldStop& should_stop) {
  const auto predecessor = watch_process(identity_of(ring.participants()[index_of(kProducerId)]));
  if (predecessor.fate == ProcessFate::kAlive) {
    progress("waiting for the previous producer to end: " + name_of(ring, kProducerId));
    while (!has_ended(predecessor.pidfd.get(), kWaitMs))
      if (should_stop()) throw RingBusy("stopped while waiting for the previous producer");
  }
  return predecessor.fate != ProcessFate::kUnknown;
}

}  // namespace

RingOwner::RingOwner(const RingFiles& files, const RingSpec& spec, const Progress& progress,
                     const ShouldStop& should_stop)
    : role_(take_role(files, spec)) {
  AttachAnswer found = attach_ring(files, RingAccess::kProducer);
  if (found.ring && found.ring->geometry().boot_id == current_boot_id()) {
    refuse_other_job(*found.ring, spec);
    refuse_damage(*found.ring);
    if (found.state == AttachState::kReady && same_job(found.ring->geometry(), spec) &&
        fits(*found.ring, spec) && outlive_predecessor(*found.ring, progress, should_stop)) {
      take_over(std::move(*found.ring), progress);
      return;
    }
    replace(*found.ring, spec, progress, should_stop);
  } else if (found.state != AttachState::kAbsent) {
    if (is_in_use(files.control))
      throw RingMismatch("a living consumer uses a ring that this program cannot take over: " + found.detail);
    progress("replacing what a dead producer left: " +
             (found.detail.empty() ? "a ring from before the last boot" : found.detail));
  }
  create(files, spec);
}

void RingOwner::take_over(Ring ring, const Progress& progress) {
  ring_ = std::make_unique<Ring>(std::move(ring));
  taken_over_ = true;
  if (identity_of(ring_->participants()[index_of(kProducerId)]).pid != 0)
    ring_->producer().counters.add(Counter::kDeaths);
  const std::size_t recycled = ring_->protocol().recycle_filling();
  start_ = start_of(*ring_);
  participant_.emplace(Participant::join_as_producer(*ring_));
  // FINISHED with batches left: the predecessor died while it drained.
  if (value_of(start_.next) < ring_->geometry().batch_count)
    ring_->header().ring_state.store(RingState::kOpen, std::memory_order_release);
  ring_->notify_all();
  progress("took over the ring of a dead producer: going on with batch " +
           std::to_string(value_of(start_.next)) + ", " + std::to_string(recycled) +
           " half-filled slots recycled");
}

void RingOwner::replace(Ring& old, const RingSpec& spec, const Progress& progress,
                        const ShouldStop& should_stop) {
  progress("replacing the ring: its slots, its job or its state do not fit any more");
  if (same_job(old.geometry(), spec)) {
    // What was published is in nobody's way: the consumers finish it in the old ring, unless that was
    // retired.
    if (old.state() != RingState::kRetired)
      wait_for("the consumers to finish the old ring", progress, should_stop, old,
               [&] { return old.protocol().all_done(); });
    if (old.protocol().all_done()) start_.next = start_of(old).next;
  }
  old.header().ring_state.store(RingState::kRetired, std::memory_order_release);
  old.notify_all();
  wait_for("everybody to leave the old ring", progress, should_stop, old,
           [&] { return holders(old).empty(); });
}

void RingOwner::create(const RingFiles& files, const RingSpec& spec) {
  unlink(files.data.c_str());
  unlink(files.control.c_str());
  try {
    make_ring_files(files, spec, start_.next);
  } catch (...) {
    role_.remove_files();  // nothing stays behind of a ring that could not be made
    throw;
  }
  AttachAnswer made = attach_ring(files, RingAccess::kProducer);
  if (!made.ring) throw std::runtime_error("the ring that was just made cannot be attached: " + made.detail);
  ring_ = std::make_unique<Ring>(std::move(*made.ring));
  participant_.emplace(Participant::join_as_producer(*ring_));
}

PopulateReport RingOwner::populate(const PopulateOptions& options, const SlotReady& slot_ready) const {
  try {
    return populate_slots(*ring_, options, slot_ready);
  } catch (...) {
    if (!taken_over_) {  // otherwise the slots may hold batches
      ring_->header().ring_state.store(RingState::kRetired, std::memory_order_release);
      ring_->notify_all();
      role_.remove_files();
    }
    throw;
  }
}

void RingOwner::set_finished() const noexcept {
  ring_->header().ring_state.store(RingState::kFinished, std::memory_order_release);
  ring_->notify_all();
}

StartPoint start_of(const Ring& ring) {
  StartPoint start;
  std::uint64_t cursor = ring.header().cursor.load(std::memory_order_acquire);
  const SlotProtocol protocol = ring.protocol();
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s)
    if (protocol.producer_word(SlotId{s}).state == ProducerState::kReady)
      cursor = std::max(cursor, value_of(read_batch_number(ring.slot(SlotId{s}))) + 1);
  start.next = BatchNumber{cursor};
  start.next_seq = BatchSeq{
      std::max(ring.header().next_seq.load(std::memory_order_acquire), value_of(protocol.highest_seq()) + 1)};
  return start;
}

std::optional<std::string> clean_ring(const RingFiles& files) {
  const auto role = ProducerRole::try_take(files);
  if (!role) return "producer " + ProducerRole::describe_holder(files);
  // Not as producer: the data may lie elsewhere, and then a consumer must not be overlooked.
  AttachAnswer found = attach_ring(files, RingAccess::kOperator);
  if (!found.ring && is_in_use(files.control)) return "a process that uses it all the same: " + found.detail;
  if (found.ring) {
    const auto held = holders(*found.ring);
    if (!held.empty()) return "consumer " + name_of(*found.ring, held.front());
    found.ring->header().ring_state.store(RingState::kRetired, std::memory_order_release);
    found.ring->notify_all();
  } else if (is_in_use(files.control)) {
    return "a process that uses a ring of another kind: " + found.detail;
  }
  role->remove_files();
  return std::nullopt;
}

}  // namespace tailrace
