#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tailrace {

// Counters and histograms that live in the control pages, so that they survive restarts of the processes and
// can be read when these are dead. One CounterBlock belongs to the producer, one to each group. All accesses
// are relaxed: each value stands for itself, nothing is read through it.

enum class Counter : std::uint32_t {
  kBatches,          // producer: published; group: committed
  kItems,            // valid items in them
  kSkippedItems,     // items that could not be read
  kBytes,            // producer: copied into slots; group: read by the sink
  kRedeliveries,     // leases taken from the dead
  kQuarantined,      // batches set aside
  kGivenBack,        // leases handed back unfinished
  kRefusedReturns,   // commits and give-backs by former owners
  kDeaths,           // participants that left without saying so
  kStallInputNs,     // producer: waiting for decoded input
  kStallSlotNs,      // producer: waiting for a free slot, or for the consumers to be through with all
  kStallConsumerNs,  // group: waiting for a batch
  kComputeNs,        // producer: time that the device spent in the model
  kStallComputeNs,   // producer: its main loop waits for the device, with input there and a slot free
  kStallDiskNs,      // group: waiting for storage: writes, fsync, rename, the ledger, pauses after a refusal
  // Producer: kSkippedItems by SkipKind.
  kSkippedUnreadable,
  kSkippedUndecodable,
  kSkippedTooLarge,
  kCount
};

inline constexpr std::size_t kCounterCount = static_cast<std::size_t>(Counter::kCount);

inline constexpr std::array<std::string_view, kCounterCount> kCounterNames{"batches",
                                                                           "items",
                                                                           "skipped_items",
                                                                           "bytes",
                                                                           "redeliveries",
                                                                           "quarantined",
                                                                           "given_back",
                                                                           "refused_returns",
                                                                           "deaths",
                                                                           "stall_input_ns",
                                                                           "stall_slot_ns",
                                                                           "stall_consumer_ns",
                                                                           "compute_ns",
                                                                           "stall_compute_ns",
                                                                           "stall_disk_ns",
                                                                           "skipped_unreadable",
                                                                           "skipped_undecodable",
                                                                           "skipped_too_large"};

enum class Stage : std::uint32_t {
  kInputWait,   // of the main loop, for decoded input
  kUpload,      // input copied to the device
  kCompute,     // on the device
  kEgressCopy,  // the copy itself; with a synchronous strategy also the wait for the model before it
  kPublish,     // copy finished → published
  kLeaseWait,   // published → leased
  kSink,
  kRoundTrip,  // claimed → committed by this group
  kCount
};

inline constexpr std::size_t kStageCount = static_cast<std::size_t>(Stage::kCount);

inline constexpr std::array<std::string_view, kStageCount> kStageNames{
    "input_wait", "h2d", "compute", "egress_copy", "publish", "lease_wait", "sink", "slot_round_trip"};

static_assert(!kCounterNames.back().empty() && !kStageNames.back().empty(), "every enumerator has a name");

/// Durations in 32 buckets: bucket i counts those below 2^(i+8) ns (256 ns … 9 minutes), the last one the
/// rest.
struct HistogramRecord {
  static constexpr std::size_t kBuckets = 32;
  static constexpr int kFirstBits = 8;

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets;
  std::atomic<std::uint64_t> sum_ns;

  void add(std::uint64_t ns) noexcept {
    const auto width = static_cast<std::size_t>(std::bit_width(ns >> kFirstBits));
    buckets[width < kBuckets ? width : kBuckets - 1].fetch_add(1, std::memory_order_relaxed);
    sum_ns.fetch_add(ns, std::memory_order_relaxed);
  }
};

struct CounterBlock {
  std::array<std::atomic<std::uint64_t>, kCounterCount> counters;
  std::array<HistogramRecord, kStageCount> stages;

  void add(Counter counter, std::uint64_t amount = 1) noexcept {
    counters[static_cast<std::size_t>(counter)].fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t get(Counter counter) const noexcept {
    return counters[static_cast<std::size_t>(counter)].load(std::memory_order_relaxed);
  }
  void record(Stage stage, std::uint64_t ns) noexcept { stages[static_cast<std::size_t>(stage)].add(ns); }
};

}  // namespace tailrace
