#include "shm/ring_making.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

#include "os/failpoint.hpp"
#include "shm/mapped_file.hpp"

namespace tailrace {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
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

// Everything except the words, which are all set to their first value by fill_words, and the version, stored
// last.
void fill_header(ControlHeader& header, const RingSpec& spec, const ControlOffsets& offsets,
                 std::uint64_t epoch) {
  header.magic = kControlMagic;
  header.slot_count = spec.slot_count;
  header.epoch = epoch;
  header.slot_bytes = spec.slot_bytes;
  header.slot_stride = slot_stride_for(spec.slot_bytes);
  header.control_bytes = offsets.total;
  header.data_bytes = data_file_bytes(spec.slot_count, header.slot_stride);
  header.job_digest = spec.job_digest;
  header.item_count = spec.items.position_count;
  header.batch_size = spec.items.batch_size;
  header.shard_index = spec.items.shard_index;
  header.shard_count = spec.items.shard_count;
  header.finished_before = spec.finished_before;
  header.ledger_id = spec.ledger_id;
  header.group_count = static_cast<std::uint32_t>(spec.groups.size());
  copy_text(header.boot_id, current_boot_id());
  copy_text(header.name, spec.name);
  header.ring_state.store(RingState::kOpen, std::memory_order_relaxed);
  header.cursor.store(0, std::memory_order_relaxed);
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

}  // namespace

std::uint64_t slot_stride_for(std::uint64_t slot_bytes) noexcept {
  return (slot_bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
}

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

void make_ring_files(const RingFiles& files, const RingSpec& spec) {
  const ControlOffsets offsets = control_offsets(spec.slot_count, spec.groups.size());
  const std::uint64_t epoch = random_epoch();
  const auto data_path = unfinished(files.data);
  const auto control_path = unfinished(files.control);
  unlink(data_path.c_str());
  unlink(control_path.c_str());
  try {
    const std::uint64_t data_bytes = data_file_bytes(spec.slot_count, slot_stride_for(spec.slot_bytes));
    const auto data =
        MappedFile::create(data_path, data_bytes, sizeof(DataHeader), spec.mode & ~022U, spec.group);
    const DataHeader data_header{kDataMagic, epoch};
    std::memcpy(data.bytes().data(), &data_header, sizeof data_header);

    const auto control =
        MappedFile::create(control_path, offsets.total, offsets.total, spec.mode, spec.group);
    std::byte* bytes = control.bytes().data();
    auto& header = *reinterpret_cast<ControlHeader*>(bytes);
    fill_header(header, spec, offsets, epoch);
    fill_words(bytes, spec, offsets);
    header.layout_version.store(kLayoutVersion, std::memory_order_release);

    if (rename(data_path.c_str(), files.data.c_str()) != 0) fail("cannot rename to " + files.data.string());
    failpoint("mid_init");
    if (rename(control_path.c_str(), files.control.c_str()) != 0)
      fail("cannot rename to " + files.control.string());
  } catch (...) {
    unlink(data_path.c_str());
    unlink(control_path.c_str());
    throw;
  }
}

}  // namespace tailrace
