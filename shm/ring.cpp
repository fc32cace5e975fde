#include "shm/ring.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "shm/descriptor.hpp"

namespace tailrace {
namespace {

std::string text_of(const char* bytes, std::size_t capacity) { return {bytes, strnlen(bytes, capacity)}; }

// Why the header cannot be that of a usable ring, naming the field; empty: it is one. What is used later
// comes as a private copy; `header` is only compared with it.
std::string judge(const RingGeometry& geometry, std::uint32_t group_count, const ControlHeader& header) {
  const auto wrong = [](const char* field, std::uint64_t value) {
    return std::string(field) + " is " + std::to_string(value);
  };
  if (geometry.epoch == 0) return wrong("epoch", 0);
  if (geometry.slot_count == 0 || geometry.slot_count > kMaxSlots)
    return wrong("slot_count", geometry.slot_count);
  if (group_count == 0 || group_count > kMaxGroups) return wrong("group_count", group_count);
  if (geometry.slot_stride == 0 || geometry.slot_stride % kSlotAlignment != 0 ||
      geometry.slot_stride > UINT64_MAX / 2 / kMaxSlots)
    return wrong("slot_stride", geometry.slot_stride);
  if (geometry.slot_bytes < kSlotHeaderBytes || geometry.slot_bytes > geometry.slot_stride)
    return wrong("slot_bytes", geometry.slot_bytes);
  if (header.data_bytes != data_file_bytes(geometry.slot_count, geometry.slot_stride))
    return wrong("data_bytes", header.data_bytes);
  if (header.control_bytes != control_offsets(geometry.slot_count, group_count).total)
    return wrong("control_bytes", header.control_bytes);
  const RingState state = header.ring_state.load(std::memory_order_acquire);
  if (state != RingState::kOpen && state != RingState::kFinished && state != RingState::kRetired)
    return wrong("ring_state", static_cast<std::uint64_t>(state));
  const ItemMap& items = geometry.items;
  if (items.batch_size == 0) return wrong("batch_size", items.batch_size);
  if (items.shard_index >= items.shard_count) return wrong("shard_index", items.shard_index);
  if (items.position_count > kMaxItems) return wrong("item_count", items.position_count);
  if (geometry.finished_before > items.position_count)
    return wrong("finished_before", geometry.finished_before);
  if (!is_valid_name(geometry.name)) return "name is not a pipeline's";
  return {};
}

RingGeometry copy_geometry(const ControlHeader& header) {
  RingGeometry geometry;
  geometry.name = text_of(header.name.data(), header.name.size());
  geometry.epoch = header.epoch;
  geometry.slot_count = header.slot_count;
  geometry.slot_bytes = header.slot_bytes;
  geometry.slot_stride = header.slot_stride;
  geometry.job_digest = header.job_digest;
  geometry.items = {header.item_count, header.batch_size, header.shard_index, header.shard_count};
  geometry.finished_before = header.finished_before;
  geometry.ledger_id = header.ledger_id;
  geometry.boot_id = text_of(header.boot_id.data(), header.boot_id.size());
  return geometry;
}

AttachAnswer answer(AttachState state, std::string detail) {
  return {state, std::move(detail), std::nullopt};
}

MappedFile::Access data_access(RingAccess access) {
  return access == RingAccess::kProducer ? MappedFile::Access::kReadWrite : MappedFile::Access::kRead;
}

bool needs_data(RingAccess access) {
  return access == RingAccess::kConsumer || access == RingAccess::kProducer;
}

// Who does not need the data may lack the right to read them, and does without.
std::optional<MappedFile> open_data(const RingFiles& files, RingAccess access) {
  try {
    return MappedFile::open(files.data, data_access(access));
  } catch (const std::system_error&) {
    if (!needs_data(access)) return std::nullopt;
    throw;
  }
}

// Ready, or why the data file does not belong to the control file.
AttachAnswer judge_data(const RingFiles& files, const RingGeometry& geometry,
                        const std::optional<MappedFile>& data, RingAccess access) {
  if (!data) {
    if (!needs_data(access)) return answer(AttachState::kReady, {});
    return answer(AttachState::kInitialising, files.data.string() + " is not there");
  }
  const std::uint64_t wanted = data_file_bytes(geometry.slot_count, geometry.slot_stride);
  if (data->bytes().size() < wanted)
    return answer(AttachState::kTooSmall, files.data.string() + " has " +
                                              std::to_string(data->bytes().size()) +
                                              " bytes, its ring needs " + std::to_string(wanted));
  DataHeader header{};
  std::memcpy(&header, data->bytes().data(), sizeof header);
  if (header.magic != kDataMagic)
    return answer(AttachState::kIncompatible, files.data.string() + " is not a ring's");
  if (header.epoch != geometry.epoch)
    return answer(AttachState::kInitialising,
                  files.data.string() + " belongs to another ring than the control file");
  return answer(AttachState::kReady, {});
}

std::uint64_t slot_offset(const RingGeometry& geometry, SlotId id) {
  return kSlotAlignment + index_of(id) * geometry.slot_stride;
}

}  // namespace

Ring::Ring(RingFiles files, RingGeometry geometry, MappedFile control, std::optional<MappedFile> data)
    : files_(std::move(files)),
      geometry_(std::move(geometry)),
      offsets_(control_offsets(geometry_.slot_count, geometry_.groups.size())),
      control_(std::move(control)),
      data_(std::move(data)) {
  if (data_) data_->keep_from_children();
}

std::span<ParticipantRecord> Ring::participants() const noexcept {
  return {&at<ParticipantRecord>(offsets_.participants), kMaxParticipants};
}

GroupRecord& Ring::group(GroupId id) const noexcept {
  return at<GroupRecord>(offsets_.groups + index_of(id) * sizeof(GroupRecord));
}

ProducerRecord& Ring::producer() const noexcept { return at<ProducerRecord>(offsets_.producer); }

LeaseStamp& Ring::lease_stamp(SlotId slot, GroupId group) const noexcept {
  const std::size_t index = index_of(group) * geometry_.slot_count + index_of(slot);
  return at<LeaseStamp>(offsets_.lease_stamps + index * sizeof(LeaseStamp));
}

SlotProtocol Ring::protocol() const noexcept {
  return {{&at<SlotProtocol::Word>(offsets_.producer_words), geometry_.slot_count},
          {&at<SlotProtocol::Word>(offsets_.group_words), geometry_.slot_count * geometry_.groups.size()}};
}

std::span<std::byte> Ring::slot(SlotId id) const noexcept {
  return data_->bytes().subspan(slot_offset(geometry_, id), geometry_.slot_bytes);
}

MappedPages Ring::slot_pages(SlotId id) const noexcept {
  return data_pages().part(slot_offset(geometry_, id), geometry_.slot_stride);
}

std::optional<GroupId> Ring::find_group(std::string_view name) const noexcept {
  for (std::size_t g = 0; g < geometry_.groups.size(); ++g)
    if (geometry_.groups[g].name == name) return GroupId{static_cast<std::uint32_t>(g)};
  return std::nullopt;
}

void Ring::notify_all() const noexcept {
  ready_events().notify();
  free_events().notify();
}

bool Ring::names_intact() const noexcept {
  return control_.is_at(files_.control) && (!data_ || data_->is_at(files_.data));
}

std::vector<std::filesystem::path> Ring::lost_names() const {
  std::vector<std::filesystem::path> names;
  if (!control_.is_at(files_.control)) names.push_back(files_.control);
  if (data_ && !data_->is_at(files_.data)) names.push_back(files_.data);
  return names;
}

AttachAnswer attach_ring(const RingFiles& files, RingAccess access) {
  auto control =
      MappedFile::open(files.control, access == RingAccess::kObserver ? MappedFile::Access::kRead
                                                                      : MappedFile::Access::kReadWrite);
  if (!control) return answer(AttachState::kAbsent, files.control.string() + " is not there");
  if (control->bytes().size() < sizeof(ControlHeader))
    return answer(AttachState::kTooSmall,
                  files.control.string() + " has " + std::to_string(control->bytes().size()) +
                      " bytes, a header needs " + std::to_string(sizeof(ControlHeader)));
  const auto& header = *reinterpret_cast<const ControlHeader*>(control->bytes().data());
  const std::uint32_t version = header.layout_version.load(std::memory_order_acquire);
  if (version == 0) return answer(AttachState::kInitialising, files.control.string() + " is being made");
  if (header.magic != kControlMagic)
    return answer(AttachState::kIncompatible, files.control.string() + " is not a ring's");
  if (version != kLayoutVersion)
    return answer(AttachState::kIncompatible, files.control.string() + " has layout version " +
                                                  std::to_string(version) + ", this program knows version " +
                                                  std::to_string(kLayoutVersion));
  RingGeometry geometry = copy_geometry(header);
  const std::uint32_t group_count = header.group_count;
  if (const std::string fault = judge(geometry, group_count, header); !fault.empty())
    return answer(AttachState::kIncompatible, files.control.string() + ": " + fault);
  const ControlOffsets offsets = control_offsets(geometry.slot_count, group_count);
  if (control->bytes().size() < offsets.total)
    return answer(AttachState::kTooSmall, files.control.string() + " has " +
                                              std::to_string(control->bytes().size()) +
                                              " bytes, its ring needs " + std::to_string(offsets.total));
  for (std::uint32_t g = 0; g < group_count; ++g) {
    const auto& record = *reinterpret_cast<const GroupRecord*>(control->bytes().data() + offsets.groups +
                                                               g * sizeof(GroupRecord));
    geometry.groups.push_back({text_of(record.name.data(), record.name.size()), record.max_attempts});
    if (!is_valid_name(geometry.groups.back().name))
      return answer(AttachState::kIncompatible,
                    files.control.string() + ": name of group " + std::to_string(g));
    if (geometry.groups.back().max_attempts > kMaxMaxAttempts)
      return answer(AttachState::kIncompatible, files.control.string() + ": max_attempts of group " +
                                                    std::to_string(g) + " is " +
                                                    std::to_string(geometry.groups.back().max_attempts));
  }
  auto data = open_data(files, access);
  AttachAnswer result = judge_data(files, geometry, data, access);
  if (result.state != AttachState::kReady) return result;
  result.ring.emplace(files, std::move(geometry), std::move(*control), std::move(data));
  if (result.ring->state() == RingState::kRetired) result.state = AttachState::kRetired;
  return result;
}

std::string current_boot_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id.substr(0, kBootIdBytes);
}

}  // namespace tailrace
