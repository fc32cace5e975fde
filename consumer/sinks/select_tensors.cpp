#include "consumer/sinks/select_tensors.hpp"

#include <stdexcept>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

SelectedTensor checked(const BatchView& batch, const TensorView& tensor) {
  SelectedTensor selected{&tensor, strided_view_of(tensor)};
  const auto& sizes = tensor.shape.sizes;
  if (tensor.per_row && (sizes.empty() || static_cast<std::uint64_t>(sizes[0]) != batch.rows.size()))
    throw std::runtime_error("tensor " + in_quotes(tensor.name) + " is " + describe(tensor.shape) +
                             ", but the batch has " + std::to_string(batch.rows.size()) + " rows");
  return selected;
}

std::string list_of_names(std::span<const TensorView> outputs) {
  if (outputs.empty()) return "none";
  std::string list;
  for (const TensorView& tensor : outputs) list += (list.empty() ? "" : ", ") + in_quotes(tensor.name);
  return list;
}

}  // namespace

std::vector<SelectedTensor> select_tensors(const BatchView& batch, const std::string& name) {
  std::vector<SelectedTensor> selected;
  for (const TensorView& tensor : batch.tensors)
    if (name.empty() || tensor.name == name) selected.push_back(checked(batch, tensor));
  if (selected.empty()) refuse_name(batch.tensors, name);
  return selected;
}

void refuse_name(std::span<const TensorView> outputs, const std::string& name) {
  throw std::runtime_error((name.empty() ? "the batch has no tensor" : "no tensor " + in_quotes(name)) +
                           "; the model's outputs are: " + list_of_names(outputs));
}

std::vector<ItemResult> results_with_bytes(const BatchView& batch,
                                           const std::vector<SelectedTensor>& tensors) {
  std::vector<ItemResult> results;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (!batch.rows[i].valid()) continue;
    ItemResult& result = results.emplace_back();
    result.item = batch.rows[i].item;
    for (const SelectedTensor& tensor : tensors)
      if (tensor.per_row()) result.bytes += tensor.row(i).byte_count();
  }
  return results;
}

std::string describe(const TensorShape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.sizes.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape.sizes[i]);
  return text + "] " + std::string(info_of(shape.dtype).name);
}

}  // namespace tailrace
