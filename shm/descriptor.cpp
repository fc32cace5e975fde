#include "shm/descriptor.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tailrace {
namespace {

struct SlotHeader {
  std::uint64_t batch_number;
  std::uint32_t row_count;
  std::uint32_t tensor_count;
  std::uint64_t names_bytes;
  std::uint64_t used_bytes;  // of the slot, tensors included
  StageStamps stamps;
};
static_assert(sizeof(SlotHeader) == kSlotHeaderBytes && std::is_trivially_copyable_v<SlotHeader>);

/// A piece of the names: offset is counted from their beginning.
struct NameRef {
  std::uint64_t offset;
  std::uint64_t bytes;
};

struct RowRecord {
  std::uint64_t item;
  std::int32_t height;
  std::int32_t width;
  Rect source;
  Rect content;
  NameRef name;
  NameRef output_name;
  NameRef skip_reason;
};
static_assert(sizeof(RowRecord) == 96 && std::is_trivially_copyable_v<RowRecord>);

struct TensorRecord {
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t dtype;
  std::uint32_t rank;
  std::uint32_t per_row;
  std::uint32_t reserved;
  NameRef name;
  std::array<std::int64_t, kMaxRank> sizes;
  std::array<std::int64_t, kMaxRank> strides;
};
static_assert(sizeof(TensorRecord) == 560 && std::is_trivially_copyable_v<TensorRecord>);

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > INT64_MAX)
    throw std::overflow_error("a batch of more than 2^63 bytes");
  return sum;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > INT64_MAX)
    throw std::overflow_error("a batch of more than 2^63 bytes");
  return product;
}

std::uint64_t align(std::uint64_t bytes, std::uint64_t alignment) {
  return add(bytes, alignment - 1) / alignment * alignment;
}

// Where the parts of the descriptor start; they are as long as the counts say.
struct Parts {
  std::uint64_t rows;
  std::uint64_t tensors;
  std::uint64_t names;
  std::uint64_t end;
};

Parts parts_of(std::uint64_t row_count, std::uint64_t tensor_count, std::uint64_t names_bytes) {
  Parts parts{};
  parts.rows = sizeof(SlotHeader);
  parts.tensors = add(parts.rows, multiply(row_count, sizeof(RowRecord)));
  parts.names = add(parts.tensors, multiply(tensor_count, sizeof(TensorRecord)));
  parts.end = add(parts.names, names_bytes);
  return parts;
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

template <typename Record>
void put(std::span<std::byte> slot, std::uint64_t offset, const Record& record) {
  std::memcpy(slot.data() + offset, &record, sizeof record);
}

template <typename Record>
Record get(std::span<const std::byte> slot, std::uint64_t offset) {
  Record record;
  std::memcpy(&record, slot.data() + offset, sizeof record);
  return record;
}

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

std::uint64_t span_bytes(const TensorShape& shape) {
  if (shape.strides.size() != shape.sizes.size()) throw std::invalid_argument("a stride for each size");
  for (std::size_t d = 0; d < shape.rank(); ++d)
    if (shape.sizes[d] < 0 || shape.strides[d] < 0) throw std::invalid_argument("a negative size or stride");
  // Also where there are no elements: sinks count in strides, and these must not overflow.
  std::uint64_t last = 0;
  for (std::size_t d = 0; d < shape.rank(); ++d)
    last = add(last, multiply(static_cast<std::uint64_t>(std::max<std::int64_t>(shape.sizes[d], 1)) - 1,
                              static_cast<std::uint64_t>(shape.strides[d])));
  const std::uint64_t bytes = multiply(add(last, 1), info_of(shape.dtype).bytes);
  const bool empty = std::find(shape.sizes.begin(), shape.sizes.end(), 0) != shape.sizes.end();
  return empty ? 0 : bytes;
}

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
