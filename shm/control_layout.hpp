#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shm/counters.hpp"

namespace tailrace {

// The bytes of the control file, in this order: ControlHeader, participants, groups, producer counters,
// producer words, group words (group-major), lease stamps (group-major). No behaviour here. Any change raises
// kLayoutVersion and is written in bold into CHANGELOG.md. docs/memory_layout.md shows the same for people.

inline constexpr std::uint64_t kControlMagic = 0x4c52544c49415254;  // "TRAILTRL" in memory
inline constexpr std::uint64_t kDataMagic = 0x4154415244524c54;
inline constexpr std::uint32_t kLayoutVersion = 4;

inline constexpr std::size_t kMaxParticipants = 256;  // the owner field of a group word has 8 bits
inline constexpr std::size_t kMaxGroups = 16;
inline constexpr std::size_t kMaxSlots = 1024;
inline constexpr std::size_t kMaxNameBytes = 64;
inline constexpr std::uint32_t kMaxMaxAttempts = 30;  // the attempts field of a group word counts to 31
inline constexpr std::size_t kBootIdBytes = 36;
inline constexpr std::size_t kSlotAlignment = 2U << 20;  // slots start on huge page boundaries

enum class RingState : std::uint32_t { kOpen = 1, kFinished = 2, kRetired = 3 };

using NameBytes = std::array<char, kMaxNameBytes + 8>;  // zero-terminated, whole words

struct alignas(64) ControlHeader {
  // Written once, before layout_version; never changed.
  std::uint64_t magic;
  std::atomic<std::uint32_t> layout_version;  // stored last: 0 = initialising
  std::uint32_t slot_count;
  std::uint64_t epoch;          // random; equal in the data file that belongs to it
  std::uint64_t slot_bytes;     // usable bytes of a slot
  std::uint64_t slot_stride;    // bytes from one slot to the next
  std::uint64_t control_bytes;  // size of this file
  std::uint64_t data_bytes;     // size of the data file
  std::uint64_t job_digest;     // of the item list and of what shapes a batch
  std::uint64_t item_count;     // in the job
  std::uint32_t batch_size;     // items of a batch
  std::uint32_t shard_index;    // the job is every shard_count-th item of the source's list, from this one
  std::uint32_t group_count;
  std::uint32_t shard_count;
  std::array<char, kBootIdBytes + 4> boot_id;
  NameBytes name;                 // of the pipeline
  std::uint64_t finished_before;  // items that were finished when the ring was made, and do not come into it
  std::uint64_t ledger_id;        // of the ledger that the job is written down in; 0 = none

  // Written by the producer while it holds the role byte (drain_requested: by anybody).
  alignas(64) std::atomic<RingState> ring_state;
  std::atomic<std::uint32_t> drain_requested;
  std::atomic<std::uint64_t> cursor;  // batches below it have been published, or were finished before
  std::atomic<std::uint64_t> next_seq;

  // Eventcounts (futex words), each on a line of its own.
  alignas(64) std::atomic<std::uint32_t> ready_events;  // something to lease, or another ring_state
  alignas(64) std::atomic<std::uint32_t> free_events;   // something to claim
};

/// What a participant is at; for people. Names: kActivityNames.
enum class Activity : std::uint32_t {
  kWaiting,     // consumer: for a batch
  kInput,       // producer: for decoded input
  kCompute,     // producer: the model
  kSlot,        // producer: for a free slot, or for the device
  kDraining,    // producer: for the consumers to take what is published
  kSink,        // consumer: a batch is post-processed and stored
  kRetrying,    // consumer: the outside (disk, permissions) refused; it tries again
  kQuarantine,  // consumer: a batch is set aside
  kCount
};

inline constexpr std::array<std::string_view, static_cast<std::size_t>(Activity::kCount)> kActivityNames{
    "waiting", "input", "compute", "slot", "draining", "sink", "retrying", "quarantine"};

enum class Role : std::uint32_t { kNone = 0, kProducer = 1, kConsumer = 2 };

struct alignas(64) ParticipantRecord {
  std::atomic<std::uint32_t> generation;  // raised when the entry is taken over; words hold its low byte
  std::atomic<Role> role;
  std::atomic<std::uint32_t> group;          // index, for consumers
  std::atomic<std::uint32_t> pid;            // in pid_namespace; 0 = left in order
  std::atomic<std::uint64_t> start_time;     // clock ticks since boot, field 22 of /proc/PID/stat
  std::atomic<std::uint64_t> pid_namespace;  // inode
  std::atomic<std::uint64_t> heartbeat_ns;   // CLOCK_MONOTONIC
  std::atomic<std::uint64_t> progress;       // counts up with each unit of work
  std::atomic<std::uint64_t> batches;        // committed or published by this entry's present owner
  std::atomic<std::uint64_t> items;
  std::atomic<std::uint64_t> bytes;
  std::atomic<Activity> activity;
  std::atomic<std::uint64_t> activity_since_ns;  // CLOCK_MONOTONIC
  std::atomic<std::uint64_t> progress_limit_ns;  // longer at one unit of work: stuck; 0 = it has not said
};

struct alignas(64) GroupRecord {
  NameBytes name;
  std::uint32_t max_attempts;  // 0 = never quarantine
  std::uint32_t reserved;
  CounterBlock counters;
};

/// What the present producer found out about its machine; 0 = nothing yet.
struct ProducerGauges {
  std::atomic<std::uint64_t> link_bytes_per_s;  // from the device into pinned memory, at its best
  std::atomic<std::uint64_t> slots_pinned;      // all of them, or 0
  std::atomic<std::uint64_t> page_bytes;        // of the ring's memory
  std::atomic<std::int64_t> numa_node;          // of the device; -1 = unknown
};

/// How the last producer that ended with an error ended. Its successor does not clear it: it is another
/// generation of entry 0, and what that has published tells whether the trouble is over.
struct ProducerEnd {
  std::atomic<std::uint32_t> generation;  // of entry 0; 0 = none ended with an error
  std::atomic<std::uint32_t> exit_code;
  std::atomic<std::uint64_t> ended_ns;  // CLOCK_MONOTONIC
};

struct alignas(64) ProducerRecord {
  CounterBlock counters;
  ProducerGauges gauges;
  ProducerEnd end;
};

/// When a batch was leased and committed by a group; advisory, for status and metrics.
struct LeaseStamp {
  std::atomic<std::uint64_t> seq;
  std::atomic<std::uint64_t> leased_ns;
};

struct alignas(64) DataHeader {
  std::uint64_t magic;
  std::uint64_t epoch;
};

/// Where things are in a control file for so many slots and groups; offsets and sizes in bytes.
struct ControlOffsets {
  std::uint64_t participants;
  std::uint64_t groups;
  std::uint64_t producer;
  std::uint64_t producer_words;
  std::uint64_t group_words;
  std::uint64_t lease_stamps;
  std::uint64_t total;
};

/// Preconditions: slot_count ≤ kMaxSlots, group_count ≤ kMaxGroups.
ControlOffsets control_offsets(std::size_t slot_count, std::size_t group_count) noexcept;

/// Bytes of the data file: one alignment unit for its header, then the slots.
std::uint64_t data_file_bytes(std::uint64_t slot_count, std::uint64_t slot_stride) noexcept;

}  // namespace tailrace
