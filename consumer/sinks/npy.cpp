#include "consumer/sinks/npy.hpp"

#include <stdexcept>
#include <string>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kGrowthDigits = 21;  // numpy's GROWTH_AXIS_MAX_DIGITS
constexpr std::string_view kMagic = "\x93NUMPY";

std::string dictionary(std::string_view descr, std::span<const std::int64_t> shape) {
  std::string text = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  text += shape.size() == 1 ? ",), }" : "), }";
  if (!shape.empty()) text.append(kGrowthDigits - std::to_string(shape[0]).size(), ' ');
  return text;
}

std::string little_endian(std::size_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

}  // namespace

std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape) {
  const std::string text = dictionary(descr, shape);
  const auto padding_after = [&](std::size_t length_bytes) {
    return kAlignment - (kMagic.size() + 2 + length_bytes + text.size() + 1) % kAlignment;
  };
  const bool short_length = text.size() + padding_after(2) + 1 <= 0xffff;
  const std::size_t length_bytes = short_length ? 2 : 4;
  const std::size_t padding = padding_after(length_bytes);
  std::string header(kMagic);
  header += {short_length ? '\1' : '\2', '\0'};
  header += little_endian(text.size() + padding + 1, length_bytes) + text;
  return header.append(padding, ' ') + '\n';
}

NpyFormat npy_format_of(const TensorView& tensor, bool bf16_raw) {
  const DtypeInfo info = info_of(tensor.shape.dtype);
  if (info.dtype == Dtype::kBfloat16)
    return bf16_raw ? NpyFormat{info_of(Dtype::kUint16).numpy_descr}
                    : NpyFormat{info_of(Dtype::kFloat32).numpy_descr, true};
  if (info.numpy_descr.empty())
    throw std::runtime_error(
        "tensor " + in_quotes(tensor.name) + " is " + std::string(info.name) +
        ", which .npy files cannot hold; choose another dtype with [egress] dtype, or the sink exec");
  return {info.numpy_descr};
}

}  // namespace tailrace
