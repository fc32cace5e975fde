#include "shm/ring_owner.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <random>
#include <system_error>

#include "shm/clock.hpp"
#include "shm/descriptor.hpp"

namespace tailrace {
namespace {

constexpr int kWaitMs = 50;

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::uint64_t stride_for(std::uint64_t slot_bytes) {
  return (slot_bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

std::uint64_t random_epoch() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

template <std::size_t N>
void copy_text(std::array<char, N>& to, const std::string& from) {
  to.fill(0);
  std::memcpy(to.data(), from.data(), std::min(from.size(), N - 1));
}

void remove_name(const std::filesystem::path& path) noexcept { unlink(path.c_str()); }

// Everything except the words, which are all set to their first value by fill_words, and the version, stored
// last.
void fill_header(ControlHeader& header, const RingSpec& spec, const ControlOffsets& offsets,
                 std::uint64_t epoch, BatchNumber cursor) {
  header.magic = kControlMagic;
  header.slot_count = spec.slot_count;
  header.epoch = epoch;
  header.slot_bytes = spec.slot_bytes;
  header.slot_stride = stride_for(spec.slot_bytes);
  header.control_bytes = offsets.total;
  header.data_bytes = data_file_bytes(spec.slot_count, header.slot_stride);
  header.job_digest = spec.job_digest;
  header.item_count = spec.item_count;
  header.batch_count = spec.batch_count;
  header.group_count = static_cast<std::uint32_t>(spec.groups.size());
  copy_text(header.boot_id, current_boot_id());
  copy_text(header.name, spec.name);
  header.ring_state.store(RingState::kOpen, std::memory_order_relaxed);
  header.cursor.store(value_of(cursor), std::memory_order_relaxed);
  header.next_seq.store(1, std::memory_order_relaxed);
}

void fill_words(std::byte* control, const RingSpec& spec, const ControlOffsets& offsets) {
  auto* producer = reinterpret_cast<SlotProtocol::Word*>(control + offsets.producer_words);
  auto* groups = reinterpret_cast<SlotProtocol::Word*>(control + offsets.group_words);
  const std::size_t word_count = spec.slot_count * spec.groups.size();
  for (std::size_t i = 0; i < spec.slot_count; ++i)
    producer[i].store(encode(free_word(BatchSeq{0})), std::memory_order_relaxed);
  for (std::size_t i = 0; i < word_count; ++i)
    groups[i].store(encode(done_word(BatchSeq{0})), std::memory_order_relaxed);
  for (std::size_t g = 0; g < spec.groups.size(); ++g) {
    auto& record = *reinterpret_cast<GroupRecord*>(control + offsets.groups + g * sizeof(GroupRecord));
    copy_text(record.name, spec.groups[g].name);
    record.max_attempts = spec.groups[g].max_attempts;
  }
}

// Configurations are checked elsewhere; this keeps a caller's slip from becoming a ring that nobody can
// attach.
void check_spec(const RingSpec& spec) {
  const auto refuse = [](const char* field, std::uint64_t value) {
    throw std::invalid_argument(std::string("no ring can have a ") + field + " of " + std::to_string(value));
  };
  if (spec.slot_count == 0 || spec.slot_count > kMaxSlots) refuse("slot_count", spec.slot_count);
  if (spec.slot_bytes == 0 || spec.slot_bytes > INT64_MAX / 2 / kMaxSlots)
    refuse("slot_bytes", spec.slot_bytes);
  if (spec.groups.empty() || spec.groups.size() > kMaxGroups) refuse("group count", spec.groups.size());
  if (!is_valid_name(spec.name)) throw std::invalid_argument("'" + spec.name + "' cannot name a pipeline");
  for (const GroupSpec& group : spec.groups) {
    if (!is_valid_name(group.name)) throw std::invalid_argument("'" + group.name + "' cannot name a group");
    if (group.max_attempts > kMaxMaxAttempts) refuse("max_attempts", group.max_attempts);
  }
}

// The data file first, then the control file with its version last; both under names that nobody looks at,
// and renamed in the same order, so that whoever finds a control file finds all of the ring, or a pair with
// different epochs.
void make_files(const RingFiles& files, const RingSpec& spec, BatchNumber cursor) {
  const ControlOffsets offsets = control_offsets(spec.slot_count, spec.groups.size());
  const std::uint64_t epoch = random_epoch();
  const auto data_path = unfinished(files.data);
  const auto control_path = unfinished(files.control);
  remove_name(data_path);
  remove_name(control_path);
  try {
    const std::uint64_t data_bytes = data_file_bytes(spec.slot_count, stride_for(spec.slot_bytes));
    const auto data = MappedFile::create(data_path, data_bytes, spec.mode & ~022U, spec.group);
    const DataHeader data_header{kDataMagic, epoch};
    std::memcpy(data.bytes().data(), &data_header, sizeof data_header);

    const auto control = MappedFile::create(control_path, offsets.total, spec.mode, spec.group);
    std::byte* bytes = control.bytes().data();
    auto& header = *reinterpret_cast<ControlHeader*>(bytes);
    fill_header(header, spec, offsets, epoch, cursor);
    fill_words(bytes, spec, offsets);
    header.layout_version.store(kLayoutVersion, std::memory_order_release);

    if (rename(data_path.c_str(), files.data.c_str()) != 0) fail("cannot rename to " + files.data.string());
    if (rename(control_path.c_str(), files.control.c_str()) != 0)
      fail("cannot rename to " + files.control.string());
  } catch (...) {
    remove_name(data_path);
    remove_name(control_path);
    throw;
  }
}

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

// Empty: it came or went between the two tries. O_CREAT only where there is none: with it the kernel refuses
// even root another user's file in a sticky folder (fs.protected_regular), and root could not clean up.
UniqueFd open_lock(const std::filesystem::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT)
    fd = UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd && errno != ENOENT && errno != EEXIST) fail("cannot open " + path.string());
  return fd;
}

}  // namespace

std::optional<ProducerRole> ProducerRole::try_take(const RingFiles& files) {
  for (;;) {
    UniqueFd fd = open_lock(files.lock);
    if (!fd) continue;
    ByteLock lock(std::move(fd));
    if (!lock.try_lock(0)) return std::nullopt;
    // Locked, but perhaps a file that its last holder has just unlinked: then a second producer could lock
    // its successor of the same name.
    if (!same_file(lock.fd(), files.lock)) continue;
    // For messages only: on a full file system the role, and with it `clean`, must still be had.
    const std::string text = "pid " + std::to_string(getpid()) + "\n";
    if (pwrite(lock.fd(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) [[maybe_unused]]
      const int cut = ftruncate(lock.fd(), static_cast<off_t>(text.size()));
    return ProducerRole(files, std::move(lock));
  }
}

std::string ProducerRole::describe_holder(const RingFiles& files) {
  UniqueFd fd(open(files.lock.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::array<char, 32> text{};
  if (!fd || pread(fd.get(), text.data(), text.size() - 1, 0) <= 0) return "an unknown process";
  return {text.data(), std::strcspn(text.data(), "\n")};
}

void ProducerRole::remove_files() const noexcept {
  // Whoever lost the lock file's name has lost the role: the names may be a successor's.
  if (!same_file(lock_.fd(), files_.lock)) return;
  for (const auto& path :
       {files_.data, files_.control, unfinished(files_.data), unfinished(files_.control), files_.lock})
    remove_name(path);
}

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
  remove_name(files.data);
  remove_name(files.control);
  try {
    make_files(files, spec, start_.next);
  } catch (...) {
    role_.remove_files();  // nothing stays behind of a ring that could not be made
    throw;
  }
  AttachAnswer made = attach_ring(files, RingAccess::kProducer);
  if (!made.ring) throw std::runtime_error("the ring that was just made cannot be attached: " + made.detail);
  ring_ = std::make_unique<Ring>(std::move(*made.ring));
  participant_.emplace(Participant::join_as_producer(*ring_));
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

std::optional<std::string> find_producer(const RingFiles& files) {
  const UniqueFd fd(open(files.lock.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd || !is_byte_locked(fd.get(), 0)) return std::nullopt;
  return ProducerRole::describe_holder(files);
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
