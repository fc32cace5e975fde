#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "shm/ring.hpp"

namespace tailrace {

/// What one group has done so far, and its view of the slots.
struct GroupProgress {
  std::string name;
  std::uint64_t batches = 0;
  std::uint64_t items = 0;
  std::uint64_t set_aside = 0;  // batches in quarantine
  std::uint64_t redeliveries = 0;
  SlotCounts slots;
};

/// The counters of a ring at one moment.
struct Progress {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t item_count = 0;
  std::uint64_t batch_count = 0;
  std::uint64_t finished_before = 0;  // items that did not come into this ring
  std::uint64_t published = 0;        // batches
  std::uint64_t skipped = 0;          // items that could not be read
  std::uint64_t bytes = 0;            // copied into slots
  std::uint64_t compute_ns = 0;       // that the device spent in the model
  bool draining = false;
  std::vector<GroupProgress> groups;

  /// Items that every group is through with: done, skipped, or finished before.
  [[nodiscard]] std::uint64_t items_behind() const;
  /// The group with the fewest batches. Precondition: there is one.
  [[nodiscard]] const GroupProgress& slowest() const;
};

Progress read_progress(const Ring& ring);

struct Rates {
  double steps_per_s = 0;  // batches that left the model
  double items_per_s = 0;  // that every group is through with
  double bytes_per_s = 0;  // into slots
  double busy = 0;         // share of the time that the device spent in the model
};

/// All 0 where no time has passed, and never negative: a ring that was replaced counts from 0.
Rates rates_between(const Progress& earlier, const Progress& later);

/// Rates over the last seconds, or further back where the steps are slower than that.
class RateMeter {
 public:
  /// `window_ns`: how far back the oldest sample lies; up to kMaxWindows times as far until kLeastSteps are
  /// seen.
  explicit RateMeter(std::uint64_t window_ns) : window_ns_(window_ns) {}

  Rates add(const Progress& progress);

 private:
  static constexpr std::uint64_t kLeastSteps = 3;
  static constexpr std::uint64_t kMaxWindows = 12;

  [[nodiscard]] bool is_over(const Progress& second, const Progress& last) const;

  std::uint64_t window_ns_;
  std::deque<Progress> samples_;
};

/// One line for people, the most telling things first: it may be cut anywhere.
std::string progress_line(const std::string& pipeline, const Progress& progress, const Rates& rates);

/// What the end of a run prints. Counts are of the whole job, as the ledger has them.
struct RunSummary {
  struct Group {
    std::string name;
    std::uint64_t done = 0;  // items
    std::uint64_t skipped = 0;
    std::uint64_t set_aside = 0;
    std::uint64_t left = 0;
    std::uint64_t redeliveries = 0;  // in this run, as `deaths`
    std::uint32_t deaths = 0;
    std::string output;  // where the results are
  };

  std::string pipeline;
  double wall_s = 0;
  std::uint64_t before = 0;    // items that every group was through with when the run began
  std::optional<Rates> rates;  // empty: nothing was to do
  std::uint32_t producer_deaths = 0;
  std::uint32_t producer_restarts = 0;
  std::vector<Group> groups;  // at least one
};

std::string summary_text(const RunSummary& summary);

/// "0:07", "12:34", "1:02:03"
std::string clock_text(double seconds);

}  // namespace tailrace
