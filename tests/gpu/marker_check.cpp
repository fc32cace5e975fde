#include "tests/gpu/marker_check.hpp"

#include <algorithm>

#include "producer/torch/synthetic_values.hpp"
#include "shm/descriptor.hpp"

namespace tailrace {
namespace {

constexpr auto kModulus = static_cast<std::uint32_t>(synthetic_modulus(Dtype::kFloat32));
constexpr std::size_t kMaxFaults = 10;

// A compiler makes vector code of it: values are below 2^24, so that int32 and float32 both hold them.
std::uint64_t count_wrong_without_wrap(std::span<const float> values, std::int32_t first) {
  const auto count = static_cast<std::int32_t>(values.size());
  const float* value = values.data();
  std::int32_t wrong = 0;
  for (std::int32_t i = 0; i < count; ++i) wrong += value[i] == static_cast<float>(first + i) ? 0 : 1;
  return static_cast<std::uint64_t>(wrong);
}

}  // namespace

std::uint64_t count_wrong_markers(std::span<const float> values, std::uint32_t first) {
  std::uint64_t wrong = 0;
  while (!values.empty()) {
    const auto part = values.first(std::min<std::size_t>(values.size(), kModulus - first));
    wrong += count_wrong_without_wrap(part, static_cast<std::int32_t>(first));
    values = values.subspan(part.size());
    first = 0;
  }
  return wrong;
}

std::uint64_t MarkerCheck::Job::item_elements() const {
  std::uint64_t elements = 1;
  for (const std::int64_t size : item_shape) elements *= static_cast<std::uint64_t>(size);
  return elements;
}

MarkerCheck::MarkerCheck(const Job& job) : job_(job), times_seen_(job.batches()) {}

void MarkerCheck::check(const BatchView& batch) {
  if (!has_expected_form(batch)) return;
  const std::uint64_t number = value_of(batch.number);
  ++times_seen_[number];
  const std::uint64_t elements = job_.item_elements();
  const auto* values = reinterpret_cast<const float*>(batch.tensors[0].bytes.data());
  // Copies fill a slot from its beginning: one that was published too early is not complete at its end.
  for (std::uint64_t row = batch.rows.size(); row-- > 0;)
    check_row(number, row, {values + row * elements, elements});
}

std::uint64_t MarkerCheck::rows_of(std::uint64_t batch) const {
  return std::min(job_.batch_size, job_.items - batch * job_.batch_size);
}

bool MarkerCheck::has_expected_form(const BatchView& batch) {
  const std::uint64_t number = value_of(batch.number);
  const std::string name = "batch " + std::to_string(number);
  if (number >= job_.batches()) {
    add_fault(name + " is beyond the job's " + std::to_string(job_.batches()));
    return false;
  }
  if (batch.rows.size() != rows_of(number) || batch.rows[0].item != number * job_.batch_size) {
    add_fault(name + " has other rows than the job");
    return false;
  }
  const std::uint64_t bytes = batch.rows.size() * job_.item_elements() * sizeof(float);
  if (batch.tensors.size() != 1 || batch.tensors[0].shape.dtype != Dtype::kFloat32 ||
      batch.tensors[0].bytes.size() != bytes || batch.tensors[0].shape.strides.back() != 1) {
    add_fault(name + " is not one contiguous float32 tensor of " + std::to_string(bytes) + " bytes");
    return false;
  }
  return true;
}

void MarkerCheck::check_row(std::uint64_t batch, std::uint64_t row, std::span<const float> values) {
  const auto first = static_cast<std::uint32_t>(synthetic_value(Dtype::kFloat32, BatchNumber{batch}, row, 0));
  checked_elements_ += values.size();
  const std::uint64_t wrong = count_wrong_markers(values, first);
  if (wrong == 0) return;
  wrong_elements_ += wrong;
  std::uint64_t at = 0;
  const auto expected = [&] {
    return static_cast<float>(synthetic_value(Dtype::kFloat32, BatchNumber{batch}, row, at));
  };
  while (at < values.size() && values[at] == expected()) ++at;
  std::string fault = "batch " + std::to_string(batch) + ", row " + std::to_string(row) + ": " +
                      std::to_string(wrong) + " of " + std::to_string(values.size()) + " elements are wrong";
  // The slot may have changed between the two looks: that is a fault of its own kind.
  fault += at == values.size() ? ", and right a moment later"
                               : "; the first is " + std::to_string(at) + ", " + std::to_string(values[at]) +
                                     " instead of " + std::to_string(expected());
  add_fault(fault);
}

std::vector<std::uint64_t> MarkerCheck::lost_or_doubled() const {
  std::vector<std::uint64_t> batches;
  for (std::uint64_t batch = 0; batch < times_seen_.size(); ++batch)
    if (times_seen_[batch] != 1) batches.push_back(batch);
  return batches;
}

void MarkerCheck::add_fault(const std::string& fault) {
  const std::lock_guard lock(mutex_);
  if (faults_.size() < kMaxFaults) faults_.push_back(fault);
}

}  // namespace tailrace
