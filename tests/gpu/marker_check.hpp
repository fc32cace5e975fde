#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "shm/batch_view.hpp"

namespace tailrace {

/// Elements of `values` that are not (first + i) mod synthetic_modulus(float32). `first` is below the
/// modulus.
std::uint64_t count_wrong_markers(std::span<const float> values, std::uint32_t first);

/// Holds every element of float32 batches of the synthetic model against synthetic_value(), and counts how
/// often each batch came. Any number of threads at once.
class MarkerCheck {
 public:
  struct Job {
    std::uint64_t items = 0;
    std::uint64_t batch_size = 0;
    std::vector<std::int64_t> item_shape;

    [[nodiscard]] std::uint64_t batches() const { return (items + batch_size - 1) / batch_size; }
    [[nodiscard]] std::uint64_t item_elements() const;
  };

  explicit MarkerCheck(const Job& job);

  void check(const BatchView& batch);

  [[nodiscard]] std::uint64_t wrong_elements() const { return wrong_elements_; }
  [[nodiscard]] std::uint64_t checked_elements() const { return checked_elements_; }
  /// Batches that did not come exactly once.
  [[nodiscard]] std::vector<std::uint64_t> lost_or_doubled() const;
  /// The first faults, one line each: of shapes, rows and elements. For reading when nothing checks any more.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  [[nodiscard]] std::uint64_t rows_of(std::uint64_t batch) const;
  /// Whether rows and tensor are as the job has them.
  bool has_expected_form(const BatchView& batch);
  void check_row(std::uint64_t batch, std::uint64_t row, std::span<const float> values);
  void add_fault(const std::string& fault);

  Job job_;
  std::vector<std::atomic<std::uint32_t>> times_seen_;
  std::atomic<std::uint64_t> wrong_elements_{0};
  std::atomic<std::uint64_t> checked_elements_{0};
  std::mutex mutex_;
  std::vector<std::string> faults_;
};

}  // namespace tailrace
