#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shm/control_layout.hpp"
#include "shm/event_count.hpp"
#include "shm/ids.hpp"
#include "shm/item_map.hpp"
#include "shm/mapped_file.hpp"
#include "shm/mapped_pages.hpp"
#include "shm/ring_files.hpp"
#include "shm/slot_protocol.hpp"

namespace tailrace {

struct GroupSpec {
  std::string name;
  std::uint32_t max_attempts = 3;

  bool operator==(const GroupSpec&) const = default;
};

/// What a ring is made for.
struct RingSpec {
  std::string name;
  std::uint32_t slot_count = 8;
  std::uint64_t slot_bytes = 0;
  std::vector<GroupSpec> groups;
  std::uint64_t job_digest = 0;  // of the item list and of what shapes a batch
  ItemMap items;
  std::uint64_t finished_before = 0;  // items that do not come into the ring, because they are finished
  std::uint64_t ledger_id = 0;        // of the ledger that the job is written down in; 0 = none
  std::uint32_t mode = 0660;   // of the control file; the data file gets it without group and other write
  std::optional<gid_t> group;  // owner group of the files
};

/// The never-changing part of a control file, copied and range-checked once at attach and used from then on:
/// what another process scribbles into the header later cannot lead anybody astray.
struct RingGeometry {
  std::string name;
  std::uint64_t epoch = 0;
  std::uint32_t slot_count = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t slot_stride = 0;
  std::vector<GroupSpec> groups;
  std::uint64_t job_digest = 0;
  ItemMap items;
  std::uint64_t finished_before = 0;
  std::uint64_t ledger_id = 0;
  std::string boot_id;
};

enum class RingAccess {
  kObserver,  // control and data read-only, no matter if there are no data: status, metrics
  kOperator,  // the same, but control read-write: drain, clean
  kConsumer,  // control read-write, data read-only
  kProducer,  // both read-write
};

/// One attached ring: views of its control and data pages. Moves keep the pages where they are.
class Ring {
 public:
  Ring(RingFiles files, RingGeometry geometry, MappedFile control, std::optional<MappedFile> data);

  [[nodiscard]] const RingGeometry& geometry() const noexcept { return geometry_; }
  [[nodiscard]] const RingFiles& files() const noexcept { return files_; }
  [[nodiscard]] ControlHeader& header() const noexcept { return at<ControlHeader>(0); }
  [[nodiscard]] std::span<ParticipantRecord> participants() const noexcept;
  [[nodiscard]] GroupRecord& group(GroupId id) const noexcept;
  [[nodiscard]] ProducerRecord& producer() const noexcept;
  [[nodiscard]] CounterBlock& group_counters(GroupId id) const noexcept { return group(id).counters; }
  [[nodiscard]] LeaseStamp& lease_stamp(SlotId slot, GroupId group) const noexcept;
  [[nodiscard]] SlotProtocol protocol() const noexcept;
  [[nodiscard]] EventCount ready_events() const noexcept { return EventCount(header().ready_events); }
  [[nodiscard]] EventCount free_events() const noexcept { return EventCount(header().free_events); }

  /// The slot's slot_bytes bytes; writing to them faults unless attached as producer.
  /// Precondition: has_data().
  [[nodiscard]] std::span<std::byte> slot(SlotId id) const noexcept;
  /// The pages of the whole data file, and of a slot with its rest up to the next one. Precondition: attached
  /// as producer.
  [[nodiscard]] MappedPages data_pages() const noexcept { return {data_->fd(), 0, data_->bytes()}; }
  [[nodiscard]] MappedPages slot_pages(SlotId id) const noexcept;
  /// False only for observers and operators whose data file is gone, elsewhere, or not theirs to read.
  [[nodiscard]] bool has_data() const noexcept { return data_.has_value(); }

  [[nodiscard]] std::optional<GroupId> find_group(std::string_view name) const noexcept;
  [[nodiscard]] RingState state() const noexcept {
    return header().ring_state.load(std::memory_order_acquire);
  }
  /// Wakes whoever waits for anything.
  void notify_all() const noexcept;
  /// False: somebody removed or replaced the files while the ring is in use.
  [[nodiscard]] bool names_intact() const noexcept;
  /// Those that were, for messages.
  [[nodiscard]] std::vector<std::filesystem::path> lost_names() const;
  [[nodiscard]] int control_fd() const noexcept { return control_.fd(); }

 private:
  template <typename T>
  [[nodiscard]] T& at(std::uint64_t offset) const noexcept {
    return *reinterpret_cast<T*>(control_.bytes().data() + offset);
  }

  RingFiles files_;
  RingGeometry geometry_;
  ControlOffsets offsets_;
  MappedFile control_;
  std::optional<MappedFile> data_;  // see has_data()
};

enum class AttachState {
  kReady,
  kAbsent,
  kInitialising,  // half made; or made anew at this moment
  kRetired,       // about to be replaced
  kIncompatible,  // another layout version, or not a ring
  kTooSmall,      // a file is shorter than its header says
};

struct AttachAnswer {
  AttachState state = AttachState::kAbsent;
  std::string detail;        // for people: what was found and what was expected
  std::optional<Ring> ring;  // where kReady or kRetired
};

/// Looks at the files and maps them. Throws std::system_error only where a file cannot be opened or mapped
/// for a reason that time will not mend (permission, memory).
AttachAnswer attach_ring(const RingFiles& files, RingAccess access);

/// This machine's present boot, as in /proc/sys/kernel/random/boot_id.
std::string current_boot_id();

}  // namespace tailrace
