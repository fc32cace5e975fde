#include "producer/torch/safetensors.hpp"

#include <ATen/ops/empty.h>

#include <array>
#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "producer/errors.hpp"
#include "producer/torch/dtype.hpp"

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

namespace tailrace {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

constexpr std::array<std::pair<std::string_view, Dtype>, 16> kTypes{{
    {"BOOL", Dtype::kBool},
    {"U8", Dtype::kUint8},
    {"I8", Dtype::kInt8},
    {"U16", Dtype::kUint16},
    {"I16", Dtype::kInt16},
    {"U32", Dtype::kUint32},
    {"I32", Dtype::kInt32},
    {"U64", Dtype::kUint64},
    {"I64", Dtype::kInt64},
    {"F16", Dtype::kFloat16},
    {"BF16", Dtype::kBfloat16},
    {"F32", Dtype::kFloat32},
    {"F64", Dtype::kFloat64},
    {"C64", Dtype::kComplex64},
    {"F8_E4M3", Dtype::kFloat8E4m3fn},
    {"F8_E5M2", Dtype::kFloat8E5m2},
}};

struct Entry {
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // in the data
  std::uint64_t end = 0;
};

[[noreturn]] void damaged(const std::string& path, const std::string& what) {
  throw ModelError(path + " is no intact .safetensors file: " + what);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), file_(path, std::ios::binary | std::ios::ate) {
    if (!file_) throw ModelError(path + " cannot be opened");
    file_bytes_ = static_cast<std::uint64_t>(file_.tellg());
  }

  Json header() {
    std::uint64_t length = 0;
    if (file_bytes_ < sizeof length) damaged(path_, "it has only " + std::to_string(file_bytes_) + " bytes");
    read_at(0, &length, sizeof length);
    if (length > kMaxHeaderBytes || length > file_bytes_ - sizeof length)
      damaged(path_, "it announces a header of " + std::to_string(length) + " bytes, the file has " +
                         std::to_string(file_bytes_));
    std::string text(length, '\0');
    read_at(sizeof length, text.data(), length);
    data_start_ = sizeof length + length;
    Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!header.is_object()) damaged(path_, "its header is not a JSON object");
    return header;
  }

  Entry entry(const std::string& name, const Json& value) {
    Entry entry;
    if (!value.is_object()) damaged(path_, name + " is not an object");
    entry.dtype = dtype_in(name, value);
    entry.shape = numbers_in<std::int64_t>(name, value, "shape");
    const auto offsets = numbers_in<std::uint64_t>(name, value, "data_offsets");
    if (offsets.size() != 2) damaged(path_, name + " needs two data_offsets");
    entry.begin = offsets[0];
    entry.end = offsets[1];
    require_in_range(name, entry);
    return entry;
  }

  at::Tensor tensor(const Entry& entry) {
    at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(scalar_type_of(entry.dtype)));
    read_at(data_start_ + entry.begin, tensor.mutable_data_ptr(), entry.end - entry.begin);
    return tensor;
  }

 private:
  void read_at(std::uint64_t offset, void* into, std::uint64_t bytes) {
    if (bytes == 0) return;
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(static_cast<char*>(into), static_cast<std::streamsize>(bytes));
    if (!file_) damaged(path_, "reading " + std::to_string(bytes) + " bytes failed");
  }

  Dtype dtype_in(const std::string& name, const Json& value) const {
    const auto dtype = value.find("dtype");
    if (dtype == value.end() || !dtype->is_string()) damaged(path_, name + " has no dtype");
    for (const auto& [text, type] : kTypes)
      if (*dtype == text) return type;
    throw ModelError(path_ + ": " + name + " has dtype " + dtype->get<std::string>() +
                     ", which is not supported");
  }

  template <typename Number>
  std::vector<Number> numbers_in(const std::string& name, const Json& value, const char* key) const {
    const auto list = value.find(key);
    if (list == value.end() || !list->is_array()) damaged(path_, name + " has no " + key);
    std::vector<Number> numbers;
    for (const Json& number : *list) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() > INT64_MAX)
        damaged(path_, name + " has a bad number in " + key);
      numbers.push_back(number.get<Number>());
    }
    return numbers;
  }

  /// Also adds up what all tensors claim, so that ranges that overlap cannot ask for more than the file has.
  void require_in_range(const std::string& name, const Entry& entry) {
    const std::uint64_t available = file_bytes_ - data_start_;
    if (entry.begin > entry.end || entry.end > available)
      damaged(path_, name + " lies at bytes " + std::to_string(entry.begin) + " to " +
                         std::to_string(entry.end) + " of " + std::to_string(available));
    std::uint64_t bytes = info_of(entry.dtype).bytes;
    for (const std::int64_t size : entry.shape)
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size), &bytes) || bytes > INT64_MAX)
        damaged(path_, name + " has a shape that overflows");
    if (bytes != entry.end - entry.begin)
      damaged(path_, name + " needs " + std::to_string(bytes) + " bytes and has " +
                         std::to_string(entry.end - entry.begin));
    claimed_bytes_ += bytes;
    if (claimed_bytes_ > available) damaged(path_, "its tensors overlap");
  }

  std::string path_;
  std::ifstream file_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t data_start_ = 0;
  std::uint64_t claimed_bytes_ = 0;
};

}  // namespace

StateDict read_safetensors(const std::string& path) {
  Reader reader(path);
  StateDict tensors;
  const Json header = reader.header();
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    tensors.emplace(name, reader.tensor(reader.entry(name, value)));
  }
  return tensors;
}

}  // namespace tailrace
