#include <algorithm>
#include <stdexcept>

#include "shm/descriptor.hpp"
#include "shm/descriptor_layout.hpp"

namespace tailrace {
namespace {

using namespace layout;

[[noreturn]] void damaged(const std::string& what) { throw DamagedDescriptor("damaged slot: " + what); }

// Takes strings out of the names part. Together they are no longer than it: a few bytes that every row refers
// to would become any amount of memory.
class NameReader {
 public:
  explicit NameReader(std::span<const std::byte> names) : names_(names), left_(names.size()) {}
  std::string read(NameRef ref, const char* field) {
    if (ref.offset > names_.size() || ref.bytes > names_.size() - ref.offset ||
        ref.bytes > kMaxItemNameBytes || ref.bytes > left_)
      damaged(std::string(field) + " at " + std::to_string(ref.offset) + ", " + std::to_string(ref.bytes) +
              " bytes");
    left_ -= ref.bytes;
    return {reinterpret_cast<const char*>(names_.data() + ref.offset), ref.bytes};
  }

 private:
  std::span<const std::byte> names_;
  std::uint64_t left_;
};

// Sinks make paths of it.
bool stays_inside(const std::string& path) {
  if (path.find('\0') != std::string::npos || path.starts_with('/')) return false;
  const std::string framed = '/' + path + '/';
  return framed.find("/../") == std::string::npos;
}

// Sinks crop and scale by it.
void check_rect(const Rect& rect, const char* field) {
  const bool negative = rect.top < 0 || rect.left < 0 || rect.height < 0 || rect.width < 0;
  if (negative || rect.height > INT32_MAX - rect.top || rect.width > INT32_MAX - rect.left)
    damaged(std::string(field) + " rectangle");
}

// Elements, with sizes of 0 counted as 1, so that no product of some of the sizes overflows either.
std::uint64_t element_count(const TensorShape& shape) {
  std::uint64_t count = 1;
  for (const std::int64_t size : shape.sizes)
    count = multiply(count, std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 1));
  return count;
}

Row read_row(const RowRecord& record, NameReader& names) {
  Row row;
  row.item = record.item;
  row.name = names.read(record.name, "name");
  row.output_name = names.read(record.output_name, "output_name");
  if (!stays_inside(row.output_name)) damaged("output_name leads out of its folder");
  if (record.height < 0 || record.width < 0) damaged("height or width of an item");
  check_rect(record.source, "source");
  check_rect(record.content, "content");
  row.height = record.height;
  row.width = record.width;
  row.source = record.source;
  row.content = record.content;
  row.skip_reason = names.read(record.skip_reason, "skip_reason");
  return row;
}

TensorView read_tensor(const TensorRecord& record, std::span<const std::byte> slot, NameReader& names,
                       std::uint64_t tensors_begin) {
  TensorView tensor;
  tensor.name = names.read(record.name, "tensor name");
  const auto dtype = find_dtype(record.dtype);
  if (!dtype) damaged("dtype " + std::to_string(record.dtype));
  if (record.rank > kMaxRank) damaged("rank " + std::to_string(record.rank));
  tensor.shape = {dtype->dtype,
                  {record.sizes.begin(), record.sizes.begin() + record.rank},
                  {record.strides.begin(), record.strides.begin() + record.rank}};
  tensor.per_row = record.per_row != 0;
  if (record.offset < tensors_begin || record.offset > slot.size() || record.offset % kTensorAlignment != 0 ||
      record.bytes > slot.size() - record.offset)
    damaged("tensor '" + tensor.name + "' at " + std::to_string(record.offset) + ", " +
            std::to_string(record.bytes) + " bytes");
  std::uint64_t span = 0;
  std::uint64_t dense = 0;
  try {
    span = span_bytes(tensor.shape);
    dense = multiply(element_count(tensor.shape), dtype->bytes);
  } catch (const std::exception&) {
    damaged("sizes or strides of tensor '" + tensor.name + "'");
  }
  if (span != record.bytes)
    damaged("tensor '" + tensor.name + "' spans " + std::to_string(span) + " bytes, its record says " +
            std::to_string(record.bytes));
  // With stride 0 a few bytes would stand for any number of elements.
  if (span != 0 && span != dense) damaged("strides of tensor '" + tensor.name + "'");
  tensor.bytes = slot.subspan(record.offset, record.bytes);
  return tensor;
}

}  // namespace

StageStamps read_stamps(std::span<const std::byte> slot) noexcept {
  return get<StageStamps>(slot, offsetof(SlotHeader, stamps));
}

std::uint64_t read_used_bytes(std::span<const std::byte> slot) noexcept {
  const auto used = get<std::uint64_t>(slot, offsetof(SlotHeader, used_bytes));
  return used < sizeof(SlotHeader) || used > slot.size() ? slot.size() : used;
}

BatchNumber read_batch_number(std::span<const std::byte> slot) noexcept {
  return BatchNumber{get<std::uint64_t>(slot, offsetof(SlotHeader, batch_number))};
}

BatchView read_descriptor(std::span<const std::byte> slot) {
  if (slot.size() < sizeof(SlotHeader)) damaged("a slot of " + std::to_string(slot.size()) + " bytes");
  const auto header = get<SlotHeader>(slot, 0);
  if (header.tensor_count > kMaxTensors) damaged("tensor_count " + std::to_string(header.tensor_count));
  if (header.row_count > slot.size() / sizeof(RowRecord))
    damaged("row_count " + std::to_string(header.row_count));
  if (header.names_bytes > slot.size()) damaged("names_bytes " + std::to_string(header.names_bytes));
  const Parts parts = parts_of(header.row_count, header.tensor_count, header.names_bytes);
  if (parts.end > slot.size()) damaged("a descriptor of " + std::to_string(parts.end) + " bytes");
  NameReader names(slot.subspan(parts.names, header.names_bytes));

  BatchView view;
  view.number = BatchNumber{header.batch_number};
  view.rows.reserve(header.row_count);
  for (std::uint32_t i = 0; i < header.row_count; ++i)
    view.rows.push_back(read_row(get<RowRecord>(slot, parts.rows + i * sizeof(RowRecord)), names));
  for (std::uint32_t i = 0; i < header.tensor_count; ++i) {
    view.tensors.push_back(read_tensor(get<TensorRecord>(slot, parts.tensors + i * sizeof(TensorRecord)),
                                       slot, names, parts.end));
    const TensorView& tensor = view.tensors.back();
    if (tensor.per_row && (tensor.shape.rank() == 0 || tensor.shape.sizes[0] != header.row_count))
      damaged("tensor '" + tensor.name + "' has not one entry for each of " +
              std::to_string(header.row_count) + " rows");
  }
  return view;
}

}  // namespace tailrace
