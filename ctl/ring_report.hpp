#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ctl/stage_times.hpp"
#include "shm/oldest_lease.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// A process of a ring as its entry and its lock byte tell.
struct ParticipantReport {
  std::uint32_t id = 0;
  std::string group;  // of a consumer
  std::int64_t pid = 0;
  bool alive = false;
  std::uint64_t batches = 0;
  std::uint64_t items = 0;
  std::uint64_t progress = 0;
  double heartbeat_age_s = 0;
  std::string_view activity;    // one of kActivityNames, or "unknown"
  double activity_age_s = 0;    // for how long it has been at that
  double progress_limit_s = 0;  // longer at one unit of work: stuck; 0 = it has not said
};

/// ProducerEnd: the last producer that ended with an error, while no successor has published anything.
struct ProducerEndReport {
  std::uint32_t exit_code = 0;
  double age_s = 0;
};

/// ProducerGauges as plain values.
struct GaugeValues {
  std::uint64_t link_bytes_per_s = 0;
  std::uint64_t slots_pinned = 0;
  std::uint64_t page_bytes = 0;
  std::int64_t numa_node = -1;
};

using CounterValues = std::array<std::uint64_t, kCounterCount>;

inline std::uint64_t get(const CounterValues& counters, Counter counter) noexcept {
  return counters[static_cast<std::size_t>(counter)];
}

std::string_view name_of(Activity activity) noexcept;

struct GroupReport {
  std::string name;
  std::uint32_t max_attempts = 0;
  SlotCounts slots;
  std::uint32_t held_up = 0;                 // slots that wait for this group alone
  std::optional<double> oldest_ready_age_s;  // published and leased by nobody; empty: none, or unknown
  std::optional<LeaseReport> oldest_lease;
  bool done = false;  // with all that is published
  CounterValues counters{};
  StageTable stages{};
};

/// All that `tailrace status` tells of one ring; read without a lock, without a word written, whether its
/// processes live or not. Values of different words may be from slightly different moments.
struct RingReport {
  std::uint64_t time_ns = 0;  // of the look; CLOCK_MONOTONIC
  std::string name;
  AttachState attach = AttachState::kAbsent;
  bool forbidden = false;  // this user may not read it: nothing is known of it
  std::string detail;      // why it cannot be read; then the rest is empty
  RingState state = RingState::kOpen;
  std::uint64_t epoch = 0;
  std::uint32_t slots = 0;
  std::uint64_t slot_bytes = 0;
  std::uint64_t items = 0;
  std::uint64_t batches = 0;
  std::uint64_t finished_before = 0;       // items that did not come into this ring
  std::optional<std::uint64_t> published;  // empty: the data file cannot be read
  bool drain_requested = false;
  std::optional<ParticipantReport> producer;  // empty: there never was one, or it left in order
  std::vector<ParticipantReport> consumers;   // those that live, and those that died without leaving
  std::vector<GroupReport> groups;
  std::optional<ProducerEndReport> failed_producer;
  bool role_held = false;    // some process is or will be the producer; true also where that cannot be seen
  CounterValues counters{};  // of the producer
  StageTable stages{};       // of the producer
  GaugeValues gauges;
  std::optional<std::string> damage;

  /// What can be done with it, in a word: that of `attach`, or "forbidden".
  [[nodiscard]] std::string_view access() const noexcept;
  [[nodiscard]] bool readable() const noexcept { return epoch != 0; }
  [[nodiscard]] bool has_living_producer() const noexcept { return producer && producer->alive; }
  [[nodiscard]] std::uint32_t count_living(const std::string& group) const noexcept;
  /// Nothing more will be published, and the group has all of it: it needs no consumers any more.
  [[nodiscard]] bool has_everything(const GroupReport& group) const noexcept {
    return state == RingState::kFinished && group.done;
  }
  /// Every group has everything.
  [[nodiscard]] bool is_over() const noexcept;
};

/// What cannot be opened becomes a `detail`. Throws std::system_error only where descriptors run out.
RingReport report_on(const RingFiles& files, const std::string& name);

}  // namespace tailrace
