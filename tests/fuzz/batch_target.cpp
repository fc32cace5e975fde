// The way of a batch: described by a producer, damaged in its slot, read, and looked at by sinks. The input
// says what the batch is and what is damaged; most inputs are well-formed batches, so that the sinks' side
// of shapes and strides is reached, not only the checks before it.

#include <algorithm>
#include <stdexcept>

#include "consumer/sinks/class_mask.hpp"
#include "consumer/sinks/select_tensors.hpp"
#include "consumer/sinks/strided_view.hpp"
#include "shm/descriptor.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/require.hpp"

namespace tailrace::fuzzing {
namespace {

constexpr std::size_t kMaxRows = 4;
constexpr std::size_t kMaxPlannedTensors = 3;
constexpr std::size_t kMaxPlannedRank = 6;
constexpr std::uint64_t kMaxSlotBytes = 1 << 20;
constexpr std::int64_t kMaxPixels = 1 << 16;

enum class Strides : std::uint8_t { kDense, kPermuted, kGiven, kCount };

struct Damage {
  std::uint16_t offset;
  std::uint8_t value;
};

Rect take_rect(ByteReader& reader) {
  return {reader.take<std::int8_t>(), reader.take<std::int8_t>(), reader.take<std::int8_t>(),
          reader.take<std::int8_t>()};
}

Row take_row(ByteReader& reader) {
  Row row;
  row.item = reader.take<std::uint8_t>();
  row.name = reader.take_text(reader.take<std::uint8_t>() % 16);
  row.output_name = reader.take_text(reader.take<std::uint8_t>() % 16);
  row.skip_reason = reader.take_text(reader.take<std::uint8_t>() % 4);
  row.height = reader.take<std::int16_t>();
  row.width = reader.take<std::int16_t>();
  row.source = take_rect(reader);
  row.content = take_rect(reader);
  return row;
}

/// Strides of a tensor without gaps whose dimensions lie in memory in the order that `order` gives.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes, ByteReader* order) {
  std::vector<std::size_t> inner_first(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) inner_first[d] = sizes.size() - 1 - d;
  for (std::size_t d = sizes.size(); order != nullptr && d > 1; --d)
    std::swap(inner_first[d - 1], inner_first[order->take<std::uint8_t>() % d]);
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (const std::size_t d : inner_first) {
    strides[d] = stride;
    stride *= std::max<std::int64_t>(sizes[d], 1);
  }
  return strides;
}

std::int64_t take_size(ByteReader& reader) {
  const auto size = reader.take<std::uint8_t>();
  return size == UINT8_MAX ? reader.take<std::int64_t>() : size % 32;
}

TensorPlan take_tensor(ByteReader& reader, std::size_t row_count) {
  TensorPlan plan;
  plan.name = reader.take_text(reader.take<std::uint8_t>() % 4);
  plan.shape.dtype = kDtypes[reader.take<std::uint8_t>() % kDtypes.size()].dtype;
  plan.per_row = reader.take<std::uint8_t>() % 4 != 0;
  const std::size_t rank = reader.take<std::uint8_t>() % (kMaxPlannedRank + 1);
  for (std::size_t d = 0; d < rank; ++d)
    plan.shape.sizes.push_back(d == 0 && plan.per_row ? static_cast<std::int64_t>(row_count)
                                                      : take_size(reader));
  const auto kind =
      static_cast<Strides>(reader.take<std::uint8_t>() % static_cast<std::uint8_t>(Strides::kCount));
  const bool huge = std::any_of(plan.shape.sizes.begin(), plan.shape.sizes.end(),
                                [](std::int64_t size) { return size < 0 || size > 255; });
  if (kind == Strides::kGiven || huge)
    for (std::size_t d = 0; d < rank; ++d) plan.shape.strides.push_back(take_size(reader));
  else
    plan.shape.strides = dense_strides(plan.shape.sizes, kind == Strides::kPermuted ? &reader : nullptr);
  plan.bytes = span_bytes(plan.shape);
  return plan;
}

void damage(std::span<std::byte> slot, ByteReader& reader) {
  while (!reader.empty()) {
    const Damage at{reader.take<std::uint16_t>(), reader.take<std::uint8_t>()};
    slot[at.offset % slot.size()] = std::byte{at.value};
  }
}

void check_view(const StridedView& view) {
  std::uint64_t logical_bytes = 0;
  std::uint64_t logical_sum = 0;
  (void)for_each_piece(view, [&](std::span<const std::byte> piece) {
    logical_bytes += piece.size();
    for (const std::byte b : piece) logical_sum += std::to_integer<std::uint64_t>(b);
    return true;
  });
  std::uint64_t stored_bytes = 0;
  std::uint64_t stored_sum = 0;
  (void)for_each_stored_piece(view, [&](std::span<const std::byte> piece) {
    stored_bytes += piece.size();
    for (const std::byte b : piece) stored_sum += std::to_integer<std::uint64_t>(b);
    return true;
  });
  require(logical_bytes == view.byte_count() && stored_bytes == logical_bytes, "every element comes once");
  require(stored_sum == logical_sum, "both orders hand out the same elements");
}

void check_mask(const SelectedTensor& tensor, const Row& row, std::size_t index) {
  Mask mask;
  read_class_mask(tensor, index, mask);
  require(mask.classes.size() == static_cast<std::size_t>(mask.height) * static_cast<std::size_t>(mask.width),
          "a class for each pixel");
  if (row.height > 0 && row.width > 0 && std::int64_t{row.height} * row.width <= kMaxPixels)
    (void)to_original_size(mask, row, mask.height, mask.width);
}

void look_as_sinks_do(const BatchView& batch) {
  std::vector<SelectedTensor> tensors;
  try {
    tensors = select_tensors(batch, "");
  } catch (const std::runtime_error&) {
    require(batch.tensors.empty(), "a read batch suits the sinks");
  }
  (void)results_with_bytes(batch, tensors);
  for (const SelectedTensor& tensor : tensors) {
    check_view(tensor.view);
    for (std::size_t i = 0; tensor.per_row() && i < batch.rows.size(); ++i) {
      check_view(tensor.row(i));
      try {
        check_mask(tensor, batch.rows[i], i);
      } catch (const std::runtime_error&) {  // NOLINT(bugprone-empty-catch): no class scores
      }
    }
  }
}

void check_same(const BatchView& batch, const std::vector<Row>& rows, const SlotPlan& plan) {
  require(batch.rows.size() == rows.size() && batch.tensors.size() == plan.tensors.size(), "counts are kept");
  for (std::size_t i = 0; i < rows.size(); ++i)
    require(batch.rows[i].item == rows[i].item && batch.rows[i].name == rows[i].name &&
                batch.rows[i].output_name == rows[i].output_name &&
                batch.rows[i].skip_reason == rows[i].skip_reason && batch.rows[i].source == rows[i].source &&
                batch.rows[i].content == rows[i].content,
            "rows are kept");
  for (std::size_t i = 0; i < plan.tensors.size(); ++i)
    require(batch.tensors[i].name == plan.tensors[i].name &&
                batch.tensors[i].shape.sizes == plan.tensors[i].shape.sizes &&
                batch.tensors[i].shape.strides == plan.tensors[i].shape.strides &&
                batch.tensors[i].bytes.size() == plan.tensors[i].bytes,
            "tensors are kept");
}

}  // namespace

bool run_one(std::span<const std::byte> input) {
  ByteReader reader(input);
  try {
    std::vector<Row> rows(reader.take<std::uint8_t>() % (kMaxRows + 1));
    for (Row& row : rows) row = take_row(reader);
    std::vector<TensorPlan> tensors(reader.take<std::uint8_t>() % (kMaxPlannedTensors + 1));
    for (TensorPlan& tensor : tensors) tensor = take_tensor(reader, rows.size());
    const SlotPlan plan = plan_slot(rows, std::move(tensors));
    std::vector<std::byte> slot(std::clamp<std::uint64_t>(plan.total_bytes, 64, kMaxSlotBytes));
    for (std::size_t i = 0; i < slot.size(); ++i) slot[i] = std::byte{static_cast<std::uint8_t>(i % 7)};
    write_descriptor(slot, BatchNumber{input.size()}, rows, plan);
    const bool whole = reader.empty();
    damage(slot, reader);
    const BatchView batch = read_descriptor(slot);
    if (whole) check_same(batch, rows, plan);
    look_as_sinks_do(batch);
    return true;
  } catch (const std::invalid_argument&) {  // a plan that no producer could have
  } catch (const std::overflow_error&) {
  } catch (const SlotTooSmall&) {
  } catch (const DamagedDescriptor&) {
  }
  return false;
}

std::vector<std::string> seeds() {
  using namespace std::string_literals;
  const std::string row(
      "\x05\x05"
      "a.jpg\x01"
      "a\x00\x04\x00\x04\x00\x00\x00\x04\x04\x00\x00\x04\x04",
      22);
  const auto tensor = [](Dtype dtype, const std::string& sizes, Strides strides, const std::string& order) {
    std::string text("\x01o", 2);
    text += static_cast<char>(static_cast<std::uint32_t>(dtype) - 1);
    text += '\x01';
    text += static_cast<char>(sizes.size() + 1);
    return text + sizes + static_cast<char>(strides) + order;
  };
  const std::string one_row = "\x01" + row;
  const std::string two_rows = "\x02" + row + row;
  return {one_row + "\x01" + tensor(Dtype::kFloat32, "\x03\x04\x04", Strides::kDense, ""),
          two_rows + "\x01" + tensor(Dtype::kFloat16, "\x05\x04\x04", Strides::kPermuted, "\x01\x02\x00"s),
          two_rows + "\x02" + tensor(Dtype::kInt64, "\x04\x04", Strides::kDense, "") +
              tensor(Dtype::kFloat8E5m2, "\x03\x02\x02\x02\x02", Strides::kPermuted, "\x03\x01\x02\x00\x01"s),
          std::string(2, '\0')};
}

std::vector<std::string> dictionary() { return {}; }

}  // namespace tailrace::fuzzing
