#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tailrace {

/// Element type of a tensor. The values are stored in rings: append only.
enum class Dtype : std::uint32_t {
  kBool = 1,
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kUint64,
  kInt64,
  kFloat16,
  kBfloat16,
  kFloat32,
  kFloat64,
  kComplex64,
  kComplex128,
  kFloat8E4m3fn,
  kFloat8E5m2,
};

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;         // as in PyTorch: "float32", "bfloat16"
  std::size_t bytes;             // of one element
  std::string_view numpy_descr;  // little-endian .npy type string; empty where NumPy has no such type
};

inline constexpr std::array<DtypeInfo, 17> kDtypes{{
    {Dtype::kBool, "bool", 1, "|b1"},
    {Dtype::kUint8, "uint8", 1, "|u1"},
    {Dtype::kInt8, "int8", 1, "|i1"},
    {Dtype::kUint16, "uint16", 2, "<u2"},
    {Dtype::kInt16, "int16", 2, "<i2"},
    {Dtype::kUint32, "uint32", 4, "<u4"},
    {Dtype::kInt32, "int32", 4, "<i4"},
    {Dtype::kUint64, "uint64", 8, "<u8"},
    {Dtype::kInt64, "int64", 8, "<i8"},
    {Dtype::kFloat16, "float16", 2, "<f2"},
    {Dtype::kBfloat16, "bfloat16", 2, ""},
    {Dtype::kFloat32, "float32", 4, "<f4"},
    {Dtype::kFloat64, "float64", 8, "<f8"},
    {Dtype::kComplex64, "complex64", 8, "<c8"},
    {Dtype::kComplex128, "complex128", 16, "<c16"},
    {Dtype::kFloat8E4m3fn, "float8_e4m3fn", 1, ""},
    {Dtype::kFloat8E5m2, "float8_e5m2", 1, ""},
}};

/// Empty for a value that is no Dtype (read from damaged memory, say).
constexpr std::optional<DtypeInfo> find_dtype(std::uint32_t value) {
  for (const DtypeInfo& info : kDtypes)
    if (static_cast<std::uint32_t>(info.dtype) == value) return info;
  return std::nullopt;
}

constexpr std::optional<DtypeInfo> find_dtype(std::string_view name) {
  for (const DtypeInfo& info : kDtypes)
    if (info.name == name) return info;
  return std::nullopt;
}

/// Precondition: `dtype` is an enumerator.
constexpr DtypeInfo info_of(Dtype dtype) { return *find_dtype(static_cast<std::uint32_t>(dtype)); }

}  // namespace tailrace
