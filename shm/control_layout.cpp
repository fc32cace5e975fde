#include "shm/control_layout.hpp"

#include <type_traits>

namespace tailrace {

// The layout is shared by processes of different builds: every size and offset is spelled out, so that a
// change of it cannot go unnoticed.
static_assert(std::is_standard_layout_v<ControlHeader>);
static_assert(sizeof(std::atomic<std::uint64_t>) == 8 && std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint32_t>) == 4 && std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<RingState>) == 4 && sizeof(std::atomic<Role>) == 4 &&
              sizeof(std::atomic<Activity>) == 4);

static_assert(offsetof(ControlHeader, magic) == 0);
static_assert(offsetof(ControlHeader, layout_version) == 8);
static_assert(offsetof(ControlHeader, slot_count) == 12);
static_assert(offsetof(ControlHeader, epoch) == 16);
static_assert(offsetof(ControlHeader, slot_bytes) == 24);
static_assert(offsetof(ControlHeader, slot_stride) == 32);
static_assert(offsetof(ControlHeader, control_bytes) == 40);
static_assert(offsetof(ControlHeader, data_bytes) == 48);
static_assert(offsetof(ControlHeader, job_digest) == 56);
static_assert(offsetof(ControlHeader, item_count) == 64);
static_assert(offsetof(ControlHeader, batch_size) == 72);
static_assert(offsetof(ControlHeader, shard_index) == 76);
static_assert(offsetof(ControlHeader, group_count) == 80);
static_assert(offsetof(ControlHeader, shard_count) == 84);
static_assert(offsetof(ControlHeader, boot_id) == 88);
static_assert(offsetof(ControlHeader, name) == 128);
static_assert(offsetof(ControlHeader, finished_before) == 200);
static_assert(offsetof(ControlHeader, ledger_id) == 208);
static_assert(offsetof(ControlHeader, ring_state) == 256);
static_assert(offsetof(ControlHeader, drain_requested) == 260);
static_assert(offsetof(ControlHeader, cursor) == 264);
static_assert(offsetof(ControlHeader, next_seq) == 272);
static_assert(offsetof(ControlHeader, ready_events) == 320);
static_assert(offsetof(ControlHeader, free_events) == 384);
static_assert(sizeof(ControlHeader) == 448);

static_assert(offsetof(ParticipantRecord, role) == 4);
static_assert(offsetof(ParticipantRecord, group) == 8);
static_assert(offsetof(ParticipantRecord, pid) == 12);
static_assert(offsetof(ParticipantRecord, start_time) == 16);
static_assert(offsetof(ParticipantRecord, pid_namespace) == 24);
static_assert(offsetof(ParticipantRecord, heartbeat_ns) == 32);
static_assert(offsetof(ParticipantRecord, progress) == 40);
static_assert(offsetof(ParticipantRecord, batches) == 48);
static_assert(offsetof(ParticipantRecord, items) == 56);
static_assert(offsetof(ParticipantRecord, bytes) == 64);
static_assert(offsetof(ParticipantRecord, activity) == 72);
static_assert(offsetof(ParticipantRecord, activity_since_ns) == 80);
static_assert(offsetof(ParticipantRecord, progress_limit_ns) == 88);
static_assert(sizeof(ParticipantRecord) == 128);

static_assert(sizeof(HistogramRecord) == 33 * sizeof(std::uint64_t));
static_assert(sizeof(CounterBlock) == std::size_t{8} * (18 + 8 * 33));
static_assert(offsetof(GroupRecord, max_attempts) == 72);
static_assert(offsetof(GroupRecord, counters) == 80);
static_assert(sizeof(GroupRecord) == 2368);
static_assert(offsetof(ProducerRecord, gauges) == 2256 && sizeof(ProducerGauges) == 32);
static_assert(offsetof(ProducerRecord, end) == 2288 && sizeof(ProducerEnd) == 16);
static_assert(sizeof(ProducerRecord) == 2304);
static_assert(sizeof(LeaseStamp) == 16);
static_assert(sizeof(DataHeader) == 64);

ControlOffsets control_offsets(std::size_t slot_count, std::size_t group_count) noexcept {
  const std::uint64_t word_count = static_cast<std::uint64_t>(slot_count) * group_count;
  const auto whole_lines = [](std::uint64_t bytes) { return (bytes + 63) / 64 * 64; };
  ControlOffsets at{};
  at.participants = sizeof(ControlHeader);
  at.groups = at.participants + kMaxParticipants * sizeof(ParticipantRecord);
  at.producer = at.groups + group_count * sizeof(GroupRecord);
  at.producer_words = at.producer + sizeof(ProducerRecord);
  at.group_words = at.producer_words + whole_lines(slot_count * sizeof(std::uint64_t));
  at.lease_stamps = at.group_words + whole_lines(word_count * sizeof(std::uint64_t));
  at.total = at.lease_stamps + word_count * sizeof(LeaseStamp);
  return at;
}

std::uint64_t data_file_bytes(std::uint64_t slot_count, std::uint64_t slot_stride) noexcept {
  return kSlotAlignment + slot_count * slot_stride;
}

}  // namespace tailrace
