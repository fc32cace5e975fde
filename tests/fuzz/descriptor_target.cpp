// What a slot says of its batch, as raw bytes. Input: the slot's size in units of 64 bytes (16 bits), then
// the slot's bytes; the rest of the slot is zero.

#include <algorithm>
#include <numeric>

#include "shm/descriptor.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/require.hpp"

namespace tailrace::fuzzing {
namespace {

constexpr std::size_t kUnit = 64;

void check_rect(const Rect& rect) {
  require(rect.top >= 0 && rect.left >= 0 && rect.height >= 0 && rect.width >= 0, "no rectangle is negative");
  require(rect.top <= INT32_MAX - rect.height && rect.left <= INT32_MAX - rect.width,
          "rectangles end in range");
}

/// Bytes of the row's texts.
std::size_t check_row(const Row& row) {
  for (const std::string* text : {&row.name, &row.output_name, &row.skip_reason})
    require(text->size() <= kMaxItemNameBytes, "texts are short enough");
  require(('/' + row.output_name + '/').find("/../") == std::string::npos, "output_name stays in its folder");
  require(row.height >= 0 && row.width >= 0, "no image is negative");
  check_rect(row.source);
  check_rect(row.content);
  return row.name.size() + row.output_name.size() + row.skip_reason.size();
}

void check_tensor(const TensorView& tensor, std::span<const std::byte> slot, std::size_t row_count) {
  require(tensor.shape.rank() <= kMaxRank && tensor.shape.strides.size() == tensor.shape.rank(), "rank");
  require(find_dtype(static_cast<std::uint32_t>(tensor.shape.dtype)).has_value(), "dtype");
  require(tensor.bytes.data() >= slot.data() &&
              tensor.bytes.data() + tensor.bytes.size() <= slot.data() + slot.size(),
          "a tensor lies in its slot");
  require(span_bytes(tensor.shape) == tensor.bytes.size(), "a tensor has the bytes of its shape");
  if (tensor.per_row)
    require(tensor.shape.rank() > 0 && static_cast<std::uint64_t>(tensor.shape.sizes[0]) == row_count,
            "a per-row tensor has an entry for each row");
  // The sum keeps the compiler from leaving the reads out; AddressSanitizer watches them.
  const auto sum =
      std::accumulate(tensor.bytes.begin(), tensor.bytes.end(), 0U,
                      [](unsigned total, std::byte b) { return total + std::to_integer<unsigned>(b); });
  require(sum <= 255U * tensor.bytes.size(), "the bytes can be read");
}

}  // namespace

bool run_one(std::span<const std::byte> input) {
  ByteReader reader(input);
  std::vector<std::byte> slot(std::max<std::size_t>(reader.take<std::uint16_t>(), 1) * kUnit);
  const auto content = reader.take_bytes(slot.size());
  std::copy(content.begin(), content.end(), slot.begin());
  require(read_used_bytes(slot) <= slot.size(), "used bytes are the slot's");
  const StageStamps stamps = read_stamps(slot);
  write_stamps(slot, stamps);
  try {
    const BatchView batch = read_descriptor(slot);
    require(batch.number == read_batch_number(slot), "one batch number");
    require(batch.tensors.size() <= kMaxTensors, "tensor count");
    std::size_t text_bytes = 0;
    for (const Row& row : batch.rows) text_bytes += check_row(row);
    for (const TensorView& tensor : batch.tensors) {
      check_tensor(tensor, slot, batch.rows.size());
      text_bytes += tensor.name.size();
    }
    require(text_bytes <= slot.size(), "a batch takes no more memory than its slot");
    return true;
  } catch (const DamagedDescriptor&) {
    return false;
  }
}

namespace {

TensorPlan tensor_plan(std::string name, Dtype dtype, std::vector<std::int64_t> sizes,
                       std::vector<std::int64_t> strides, bool per_row) {
  TensorPlan plan{std::move(name), {dtype, std::move(sizes), std::move(strides)}, per_row};
  plan.bytes = span_bytes(plan.shape);
  return plan;
}

std::string seed_of(const std::vector<Row>& rows, std::vector<TensorPlan> tensors) {
  const SlotPlan plan = plan_slot(rows, std::move(tensors));
  const std::size_t units = plan.total_bytes / kUnit + 1;
  std::vector<std::byte> slot(units * kUnit);
  write_descriptor(slot, BatchNumber{7}, rows, plan);
  write_stamps(slot, {1, 2, 3});
  std::string input;
  append(input, static_cast<std::uint16_t>(units));
  input += text_of(slot);
  return input.substr(0, input.find_last_not_of('\0') + 1);
}

std::vector<Row> some_rows(std::size_t count) {
  std::vector<Row> rows(count);
  for (std::size_t i = 0; i < count; ++i) {
    rows[i] = {i,
               "a/" + std::to_string(i) + ".jpg",
               "a/" + std::to_string(i),
               480,
               640,
               {0, 0, 480, 640},
               {8, 0, 48, 64},
               i % 2 == 1 ? "truncated" : ""};
  }
  return rows;
}

}  // namespace

std::vector<std::string> seeds() {
  return {seed_of({}, {}),
          seed_of(some_rows(2), {tensor_plan("out", Dtype::kFloat32, {2, 3, 2}, {6, 2, 1}, true)}),
          seed_of(some_rows(1), {tensor_plan("channels last", Dtype::kFloat16, {1, 3, 4}, {12, 1, 3}, true),
                                 tensor_plan("whole", Dtype::kInt64, {}, {}, false)}),
          seed_of(some_rows(3), {tensor_plan("none", Dtype::kBfloat16, {3, 0, 5}, {0, 5, 1}, true)})};
}

std::vector<std::string> dictionary() { return {}; }

}  // namespace tailrace::fuzzing
