#include "producer/torch/dtype.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tailrace {
namespace {

constexpr std::array<std::pair<Dtype, at::ScalarType>, kDtypes.size()> kPairs{{
    {Dtype::kBool, at::ScalarType::Bool},
    {Dtype::kUint8, at::ScalarType::Byte},
    {Dtype::kInt8, at::ScalarType::Char},
    {Dtype::kUint16, at::ScalarType::UInt16},
    {Dtype::kInt16, at::ScalarType::Short},
    {Dtype::kUint32, at::ScalarType::UInt32},
    {Dtype::kInt32, at::ScalarType::Int},
    {Dtype::kUint64, at::ScalarType::UInt64},
    {Dtype::kInt64, at::ScalarType::Long},
    {Dtype::kFloat16, at::ScalarType::Half},
    {Dtype::kBfloat16, at::ScalarType::BFloat16},
    {Dtype::kFloat32, at::ScalarType::Float},
    {Dtype::kFloat64, at::ScalarType::Double},
    {Dtype::kComplex64, at::ScalarType::ComplexFloat},
    {Dtype::kComplex128, at::ScalarType::ComplexDouble},
    {Dtype::kFloat8E4m3fn, at::ScalarType::Float8_e4m3fn},
    {Dtype::kFloat8E5m2, at::ScalarType::Float8_e5m2},
}};

}  // namespace

at::ScalarType scalar_type_of(Dtype dtype) {
  return std::ranges::find(kPairs, dtype, &std::pair<Dtype, at::ScalarType>::first)->second;
}

std::optional<Dtype> dtype_of(at::ScalarType type) {
  const auto* pair = std::ranges::find(kPairs, type, &std::pair<Dtype, at::ScalarType>::second);
  if (pair == kPairs.end()) return std::nullopt;
  return pair->first;
}

std::string_view name_of(at::ScalarType type) {
  const auto dtype = dtype_of(type);
  return dtype ? info_of(*dtype).name : std::string_view(c10::toString(type));
}

}  // namespace tailrace
