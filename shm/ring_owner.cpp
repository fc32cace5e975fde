#include "shm/ring_owner.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "os/clock.hpp"
#include "os/failpoint.hpp"
#include "shm/descriptor.hpp"
#include "shm/ring_making.hpp"
#include "shm/ring_occupants.hpp"
#include "shm/ring_retirement.hpp"

namespace tailrace {
namespace {

constexpr int kWaitMs = 50;

// A batch number means the same items in both, and the same ledger says what is done.
bool same_job(const RingGeometry& ring, const RingSpec& spec) {
  return ring.job_digest == spec.job_digest && ring.items == spec.items && ring.ledger_id == spec.ledger_id;
}

bool fits(const Ring& ring, const RingSpec& spec) {
  const BatchSeq last_start{kSeqMask - (1U << 20)};
  return ring.geometry().groups == spec.groups && ring.geometry().slot_count == spec.slot_count &&
         ring.geometry().slot_bytes >= spec.slot_bytes && start_of(ring).next_seq < last_start;
}

void refuse_other_job(const Ring& ring, const RingSpec& spec) {
  if (same_job(ring.geometry(), spec)) return;
  const std::size_t count = ring.protocol().count_unfinished();
  if (count != 0)
    throw RingMismatch(
        "the ring of pipeline '" + spec.name + "' still holds " + std::to_string(count) +
        " unfinished batches of another job (its items, batches or ledger differ); finish that job, "
        "or discard it with `tailrace clean " +
        spec.name + "`");
}

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
    progress("waiting for the previous producer to end: " + describe_participant(ring, kProducerId));
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
  if (!RingRetirement(old, 0, progress, should_stop).run())
    throw RingBusy("stopped while waiting for the consumers of the old ring");
}

bool RingOwner::retire(const Progress& progress, const ShouldStop& should_stop) const {
  return RingRetirement(*ring_, index_of(kProducerId) + 1, progress, should_stop).run();
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

}  // namespace tailrace
