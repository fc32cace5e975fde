#include "shm/ring_owner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "shm/clock.hpp"
#include "shm/descriptor.hpp"
#include "shm/failpoint.hpp"
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

// A batch number means the same items in both.
bool same_job(const RingGeometry& ring, const RingSpec& spec) {
  return ring.job_digest == spec.job_digest && ring.items == spec.items;
}

bool fits(const Ring& ring, const RingSpec& spec) {
  const BatchSeq last_start{kSeqMask - (1U << 20)};
  return ring.geometry().groups == spec.groups && ring.geometry().slot_count == spec.slot_count &&
         ring.geometry().slot_bytes >= spec.slot_bytes && start_of(ring).next_seq < last_start;
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

// Entries from `first` on whose lock byte is held by somebody.
std::vector<ParticipantId> holders(const Ring& ring, std::uint32_t first = 0) {
  const LockLiveness liveness(ring);
  std::vector<ParticipantId> held;
  for (std::uint32_t i = first; i < kMaxParticipants; ++i)
    if (liveness.is_held(ParticipantId{i})) held.push_back(ParticipantId{i});
  return held;
}

// Every group that a living consumer works for has all that is published.
bool is_settled(const Ring& ring) {
  const auto held = holders(ring, index_of(kProducerId) + 1);
  return std::all_of(held.begin(), held.end(), [&](ParticipantId id) {
    const std::uint32_t group = ring.participants()[index_of(id)].group.load(std::memory_order_acquire);
    return group >= ring.geometry().groups.size() || ring.protocol().group_is_done(GroupId{group});
  });
}

void refuse_other_job(const Ring& ring, const RingSpec& spec) {
  if (same_job(ring.geometry(), spec)) return;
  const std::size_t count = count_unfinished(ring);
  if (count != 0)
    throw RingMismatch("the ring of pipeline '" + spec.name + "' still holds " + std::to_string(count) +
                       " unfinished batches of another job (its items or batches differ); finish that job, "
                       "or discard it with `tailrace clean " +
                       spec.name + "`");
}

/// Takes a ring out of use, on behalf of the holder of the producer's role.
class Retirement {
 public:
  /// `first`: entries from this one on are others'.
  Retirement(const Ring& ring, std::uint32_t first, const RingOwner::Progress& progress,
             const RingOwner::ShouldStop& should_stop)
      : ring_(&ring), first_(first), progress_(&progress), should_stop_(&should_stop) {}

  /// False: stopped.
  [[nodiscard]] bool run() const {
    // What is published is in nobody's way: its consumers finish it.
    if (ring_->state() != RingState::kRetired &&
        !wait_for("the consumers to finish the old ring", [&] { return is_settled(*ring_); }))
      return false;
    ring_->header().ring_state.store(RingState::kRetired, std::memory_order_release);
    ring_->notify_all();
    failpoint("after_retire");
    return wait_for("everybody to leave the old ring", [&] { return holders(*ring_, first_).empty(); });
  }

 private:
  // Waits until `done`, saying so once, and who is in the ring.
  [[nodiscard]] bool wait_for(const std::string& what, const std::function<bool()>& done) const {
    std::string said;
    while (!done()) {
      const auto held = holders(*ring_, first_);
      const std::string text =
          "waiting for " + what +
          (held.empty() ? "; nobody is there" : "; " + name_of(*ring_, held.front()) + " is there");
      if (text != said) (*progress_)(text);
      said = text;
      if ((*should_stop_)()) return false;
      const std::uint32_t ticket = ring_->free_events().prepare();
      ring_->free_events().wait(ticket, std::chrono::milliseconds(kWaitMs), std::chrono::nanoseconds(0));
    }
    return true;
  }

  const Ring* ring_;
  std::uint32_t first_;
  const RingOwner::Progress* progress_;
  const RingOwner::ShouldStop* should_stop_;
};

// Going on from a scribbled cursor would skip the rest of the job in silence.
void refuse_damage(const Ring& ring) {
  const std::uint64_t next = value_of(start_of(ring).next);
  const std::uint64_t count = ring.geometry().items.batch_count();
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

// The ring may be taken over, and its predecessor has let go of it.
bool can_go_on(const Ring& ring, const RingSpec& spec, const RingOwner::Progress& progress,
               const RingOwner::ShouldStop& should_stop) {
  // A predecessor that lost the role's file lives and works until it notices; then it retires the ring.
  const auto is_open = [&ring] { return ring.state() != RingState::kRetired; };
  return is_open() && same_job(ring.geometry(), spec) && fits(ring, spec) &&
         outlive_predecessor(ring, progress, should_stop) && is_open();
}

}  // namespace

ProducerRole take_role(const RingFiles& files, const std::string& pipeline) {
  auto role = ProducerRole::try_take(files);
  if (!role)
    throw RingBusy("pipeline '" + pipeline +
                   "' has a producer already: " + ProducerRole::describe_holder(files));
  return std::move(*role);
}

RingOwner::RingOwner(ProducerRole role, const RingSpec& spec, const Progress& progress,
                     const ShouldStop& should_stop)
    : role_(std::move(role)) {
  check_spec(spec);
  const RingFiles& files = role_.files();
  AttachAnswer found = attach_ring(files, RingAccess::kProducer);
  // Without its data, which somebody removed, a ring may still have consumers at work in it.
  if (found.state == AttachState::kInitialising) found = attach_ring(files, RingAccess::kOperator);
  if (found.ring && found.ring->geometry().boot_id == current_boot_id()) {
    if (found.ring->has_data()) {
      refuse_other_job(*found.ring, spec);
      refuse_damage(*found.ring);
      if (can_go_on(*found.ring, spec, progress, should_stop)) {
        take_over(std::move(*found.ring), progress);
        return;
      }
    }
    replace(*found.ring, progress, should_stop);
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
  failpoint("mid_takeover");
  start_ = start_of(*ring_);
  // FINISHED with batches left: the predecessor died while it drained. [reopen]: open before the byte is
  // taken, so that whoever finds it held, and reads the state afterwards, leaves no ring that goes on.
  if (value_of(start_.next) < ring_->geometry().items.batch_count())
    ring_->header().ring_state.store(RingState::kOpen, std::memory_order_release);
  participant_.emplace(Participant::join_as_producer(*ring_));
  ring_->notify_all();
  progress("took over the ring of a dead producer: going on with batch " +
           std::to_string(value_of(start_.next)) + ", " + std::to_string(recycled) +
           " half-filled slots recycled");
}

void RingOwner::replace(const Ring& old, const Progress& progress, const ShouldStop& should_stop) {
  progress("replacing the ring: its files, its slots, its groups, its job or its state do not fit any more");
  if (!Retirement(old, 0, progress, should_stop).run())
    throw RingBusy("stopped while waiting for the consumers of the old ring");
}

bool RingOwner::retire(const Progress& progress, const ShouldStop& should_stop) const {
  return Retirement(*ring_, index_of(kProducerId) + 1, progress, should_stop).run();
}

void RingOwner::create(const RingFiles& files, const RingSpec& spec) {
  unlink(files.data.c_str());
  unlink(files.control.c_str());
  try {
    make_ring_files(files, spec);
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

bool RingOwner::names_intact() const noexcept { return role_.name_intact() && ring_->names_intact(); }

std::vector<std::filesystem::path> RingOwner::lost_names() const {
  auto names = ring_->lost_names();
  if (!role_.name_intact()) names.push_back(ring_->files().lock);
  return names;
}

void RingOwner::set_source_at_end() const noexcept {
  ring_->header().cursor.store(ring_->geometry().items.batch_count(), std::memory_order_release);
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

void discard_ring(const ProducerRole& role, const RingOwner::Progress& progress,
                  const RingOwner::ShouldStop& should_stop) {
  const AttachAnswer found = attach_ring(role.files(), RingAccess::kOperator);
  if (found.ring && !Retirement(*found.ring, 0, progress, should_stop).run())
    throw RingBusy("stopped while waiting for the consumers of the old ring");
  if (!found.ring && is_in_use(role.files().control))
    throw RingMismatch("a living process uses a ring that this program cannot read: " + found.detail);
  role.remove_files();
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
