#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace tailrace::testing {

/// Makes NVTX load the recorder into this process, if it has not begun to use NVTX, and into those that it
/// starts; `record` is the file that they append to.
void record_ranges_into(const std::filesystem::path& record);

/// One whole range of the domain "tailrace".
struct RecordedRange {
  std::string name;
  std::uint32_t argb = 0;
  std::uint64_t batch = 0;
  std::uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::uint64_t end_ns = 0;
  std::int64_t begin_thread = 0;
  std::int64_t end_thread = 0;
  std::size_t depth = 0;  // ranges of the same thread around it

  [[nodiscard]] bool encloses(const RecordedRange& other) const {
    return begin_ns <= other.begin_ns && other.end_ns <= end_ns;
  }
};

/// Ranges that do not fit together.
class UnbalancedRanges : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the processes recorded, in the order of the ends. Throws UnbalancedRanges for an end without a begin,
/// and for a range that did not end.
std::vector<RecordedRange> recorded_ranges(const std::filesystem::path& record);

}  // namespace tailrace::testing
