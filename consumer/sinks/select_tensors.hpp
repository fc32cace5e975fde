#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "consumer/sinks/sink.hpp"
#include "consumer/sinks/strided_view.hpp"
#include "shm/batch_view.hpp"

namespace tailrace {

/// A tensor that a sink works on: checked, with its rows (if it has any) counted.
struct SelectedTensor {
  const TensorView* tensor = nullptr;
  StridedView view;

  [[nodiscard]] const std::string& name() const { return tensor->name; }
  [[nodiscard]] bool per_row() const { return tensor->per_row; }
  [[nodiscard]] StridedView row(std::size_t index) const { return row_of(view, index); }
};

/// All tensors of the batch, or the one called `name`. Throws std::runtime_error listing the names that
/// exist, or naming a tensor that does not fit its bytes or the batch's rows.
std::vector<SelectedTensor> select_tensors(const BatchView& batch, const std::string& name);

/// Says that there is no output `name` (empty: none at all), and which there are.
[[noreturn]] void refuse_name(std::span<const TensorView> outputs, const std::string& name);

/// One result without files for each valid row, with the bytes that the tensors hold for it.
std::vector<ItemResult> results_with_bytes(const BatchView& batch,
                                           const std::vector<SelectedTensor>& tensors);

/// "[64, 21, 512, 512] float32", for messages.
std::string describe(const TensorShape& shape);

}  // namespace tailrace
