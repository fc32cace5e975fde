#include <algorithm>
#include <stdexcept>

#include "shm/descriptor.hpp"
#include "shm/descriptor_layout.hpp"

namespace tailrace {
namespace {

using namespace layout;

std::uint64_t align(std::uint64_t bytes, std::uint64_t alignment) {
  return add(bytes, alignment - 1) / alignment * alignment;
}

std::uint64_t place_tensors(std::uint64_t descriptor_end, std::vector<TensorPlan>& tensors) {
  std::uint64_t end = descriptor_end;
  for (TensorPlan& tensor : tensors) {
    tensor.offset = align(end, kTensorAlignment);
    end = add(tensor.offset, tensor.bytes);
  }
  return end;
}

std::uint64_t tensor_name_bytes(std::span<const TensorPlan> tensors) {
  std::uint64_t bytes = 0;
  for (const TensorPlan& tensor : tensors) bytes += tensor.name.size();
  return bytes;
}

std::uint64_t row_name_bytes(std::span<const Row> rows) {
  std::uint64_t bytes = 0;
  for (const Row& row : rows) bytes += row.name.size() + row.output_name.size() + row.skip_reason.size();
  return bytes;
}

void check_limits(std::span<const TensorPlan> tensors) {
  if (tensors.size() > kMaxTensors)
    throw std::invalid_argument(std::to_string(tensors.size()) + " output tensors; a batch carries at most " +
                                std::to_string(kMaxTensors));
  for (const TensorPlan& tensor : tensors) {
    if (tensor.name.size() > kMaxItemNameBytes)
      throw std::invalid_argument("an output has a name of " + std::to_string(tensor.name.size()) +
                                  " bytes; at most " + std::to_string(kMaxItemNameBytes) + " are carried");
    if (tensor.shape.strides.size() != tensor.shape.sizes.size())
      throw std::invalid_argument("output '" + tensor.name + "' has " +
                                  std::to_string(tensor.shape.strides.size()) + " strides for " +
                                  std::to_string(tensor.shape.rank()) + " sizes");
    if (tensor.shape.rank() > kMaxRank)
      throw std::invalid_argument("output '" + tensor.name + "' has rank " +
                                  std::to_string(tensor.shape.rank()) + "; at most " +
                                  std::to_string(kMaxRank) + " is carried");
  }
}

// Puts strings one behind the other into the names part.
class NameWriter {
 public:
  explicit NameWriter(std::span<std::byte> names) : names_(names) {}
  NameRef write(const std::string& text) {
    std::memcpy(names_.data() + used_, text.data(), text.size());
    const NameRef ref{used_, text.size()};
    used_ += text.size();
    return ref;
  }

 private:
  std::span<std::byte> names_;
  std::uint64_t used_ = 0;
};

RowRecord record_of(const Row& row, NameWriter& names) {
  return {row.item,
          row.height,
          row.width,
          row.source,
          row.content,
          names.write(row.name),
          names.write(row.output_name),
          names.write(row.skip_reason)};
}

TensorRecord record_of(const TensorPlan& tensor, NameWriter& names) {
  TensorRecord record{};
  record.offset = tensor.offset;
  record.bytes = tensor.bytes;
  record.dtype = static_cast<std::uint32_t>(tensor.shape.dtype);
  record.rank = static_cast<std::uint32_t>(tensor.shape.rank());
  record.per_row = tensor.per_row ? 1 : 0;
  record.name = names.write(tensor.name);
  std::copy(tensor.shape.sizes.begin(), tensor.shape.sizes.end(), record.sizes.begin());
  std::copy(tensor.shape.strides.begin(), tensor.shape.strides.end(), record.strides.begin());
  return record;
}

}  // namespace

SlotPlan plan_slot(std::span<const Row> rows, std::vector<TensorPlan> tensors) {
  check_limits(tensors);
  for (const Row& row : rows)
    for (const std::string* text : {&row.name, &row.output_name, &row.skip_reason})
      if (text->size() > kMaxItemNameBytes)
        throw std::invalid_argument("item " + std::to_string(row.item) + " has a name of " +
                                    std::to_string(text->size()) + " bytes; at most " +
                                    std::to_string(kMaxItemNameBytes) + " are carried");
  const Parts parts =
      parts_of(rows.size(), tensors.size(), row_name_bytes(rows) + tensor_name_bytes(tensors));
  SlotPlan plan{std::move(tensors), 0};
  plan.total_bytes = place_tensors(parts.end, plan.tensors);
  return plan;
}

std::uint64_t slot_bytes_needed(std::size_t row_count, std::size_t max_name_bytes,
                                std::vector<TensorPlan> tensors) {
  check_limits(tensors);
  const Parts parts = parts_of(row_count, tensors.size(),
                               add(multiply(row_count, max_name_bytes), tensor_name_bytes(tensors)));
  return place_tensors(parts.end, tensors);
}

void write_descriptor(std::span<std::byte> slot, BatchNumber number, std::span<const Row> rows,
                      const SlotPlan& plan) {
  if (plan.total_bytes > slot.size())
    throw SlotTooSmall("batch " + std::to_string(value_of(number)) + " needs " +
                       std::to_string(plan.total_bytes) + " bytes, a slot has " +
                       std::to_string(slot.size()) + "; raise ring.slot_bytes");
  const std::uint64_t names_bytes = row_name_bytes(rows) + tensor_name_bytes(plan.tensors);
  const Parts parts = parts_of(rows.size(), plan.tensors.size(), names_bytes);
  put(slot, 0,
      SlotHeader{value_of(number),
                 static_cast<std::uint32_t>(rows.size()),
                 static_cast<std::uint32_t>(plan.tensors.size()),
                 names_bytes,
                 plan.total_bytes,
                 {}});
  NameWriter names(slot.subspan(parts.names, names_bytes));
  for (std::size_t i = 0; i < rows.size(); ++i)
    put(slot, parts.rows + i * sizeof(RowRecord), record_of(rows[i], names));
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    put(slot, parts.tensors + i * sizeof(TensorRecord), record_of(plan.tensors[i], names));
}

void write_stamps(std::span<std::byte> slot, const StageStamps& stamps) noexcept {
  put(slot, offsetof(SlotHeader, stamps), stamps);
}

}  // namespace tailrace
