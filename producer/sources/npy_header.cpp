#include "producer/sources/npy_header.hpp"

#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace tailrace {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::uint32_t byte_at(std::span<const std::byte> bytes, std::size_t index) {
  return std::to_integer<std::uint32_t>(bytes[index]);
}

std::string in_quotes(std::string_view text) {
  std::string quoted_text(1, '\'');
  for (const char c : text.substr(0, 40)) quoted_text += c >= ' ' && c <= '~' ? c : '?';
  return quoted_text + (text.size() > 40 ? "…'" : "'");
}

Dtype parse_descr(std::string_view descr) {
  for (const DtypeInfo& info : kDtypes)
    if (!info.numpy_descr.empty() && info.numpy_descr == descr) return info.dtype;
  if (descr.starts_with('>'))
    throw std::invalid_argument("the dtype " + in_quotes(descr) +
                                " is big-endian; save a.astype(a.dtype.newbyteorder('<')) instead");
  throw std::invalid_argument("the dtype " + in_quotes(descr) +
                              " is not supported; bool, (u)int8 to 64, float16 to 64 and complex are");
}

// The header's text: a Python literal, {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, padded
// with spaces, ended by a newline. The keys come in any order, each of them once.
class HeaderText {
 public:
  explicit HeaderText(std::string_view text) : rest_(text) {}

  void parse(NpyHeader& header) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      value(key, header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("the end");
    if (!has_descr_ || !has_order_ || !has_shape_)
      throw std::invalid_argument("the header lacks one of the keys descr, fortran_order and shape");
  }

 private:
  void value(std::string_view key, NpyHeader& header) {
    if (key == "descr") {
      once(has_descr_, key);
      skip_space();
      if (rest_.starts_with('['))
        throw std::invalid_argument("the dtype is structured (has fields); one plain dtype is wanted");
      header.dtype = parse_descr(string());
    } else if (key == "fortran_order") {
      once(has_order_, key);
      header.fortran_order = boolean();
    } else if (key == "shape") {
      once(has_shape_, key);
      header.shape = tuple();
    } else {
      throw std::invalid_argument("the header has the unknown key " + in_quotes(key));
    }
  }

  static void once(bool& seen, std::string_view key) {
    if (seen) throw std::invalid_argument("the header has the key " + in_quotes(key) + " twice");
    seen = true;
  }

  void skip_space() {
    const std::size_t end = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
  }

  bool accept(char wanted) {
    skip_space();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("'") + wanted + "'");
  }

  [[noreturn]] void fail(const std::string& wanted) const {
    throw std::invalid_argument("the header has " + in_quotes(rest_) + " where " + wanted + " should be");
  }

  std::string_view string() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') fail("a string");
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) fail("a string with an end");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return word == "True";
      }
    fail("True or False");
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect('(');
    bool comma = true;
    while (!accept(')')) {
      if (!comma) fail("','");
      if (sizes.size() == kMaxNpyRank)
        throw std::invalid_argument("the shape has more than " + std::to_string(kMaxNpyRank) + " dimensions");
      sizes.push_back(integer());
      comma = accept(',');
    }
    if (sizes.size() == 1 && !comma) fail("a tuple");
    return sizes;
  }

  std::int64_t integer() {
    skip_space();
    std::int64_t number = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits)
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, rest_[digits] - '0', &number))
        throw std::invalid_argument("the shape has a size that overflows 64 bits");
    if (digits == 0) fail("a size");
    rest_.remove_prefix(digits);
    return number;
  }

  std::string_view rest_;
  bool has_descr_ = false;
  bool has_order_ = false;
  bool has_shape_ = false;
};

std::uint64_t data_bytes_of(const NpyHeader& header) {
  auto bytes = static_cast<std::int64_t>(info_of(header.dtype).bytes);
  for (const std::int64_t size : header.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      throw std::invalid_argument("the sizes of the shape overflow 64 bits when multiplied");
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace

NpyHeader parse_npy_header(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (!text.starts_with(kMagic))
    throw std::invalid_argument("not a .npy file: it does not start with \\x93NUMPY");
  if (text.size() < kMagic.size() + 2) throw std::invalid_argument("it ends within the .npy magic");
  const std::uint32_t major = byte_at(start, kMagic.size());
  const std::uint32_t minor = byte_at(start, kMagic.size() + 1);
  if (major < 1 || major > 3 || minor != 0)
    throw std::invalid_argument(".npy version " + std::to_string(major) + "." + std::to_string(minor) +
                                " is not known; 1.0, 2.0 and 3.0 are");
  const std::size_t length_at = kMagic.size() + 2;
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t text_at = length_at + length_bytes;
  if (text.size() < text_at) throw std::invalid_argument("it ends within the .npy header");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i)
    length |= std::uint64_t{byte_at(start, length_at + i)} << (8 * i);
  if (length > kMaxNpyHeaderBytes - text_at)
    throw std::invalid_argument("the .npy header claims " + std::to_string(length) + " bytes; at most " +
                                std::to_string(kMaxNpyHeaderBytes - text_at) + " are read");
  if (length > text.size() - text_at)
    throw std::invalid_argument("the .npy header claims " + std::to_string(length) + " bytes, the file has " +
                                std::to_string(text.size() - text_at) + " after the magic");
  NpyHeader header;
  header.data_offset = text_at + length;
  HeaderText(text.substr(text_at, length)).parse(header);
  header.data_bytes = data_bytes_of(header);
  if (header.data_bytes > std::uint64_t(std::numeric_limits<std::int64_t>::max()) - header.data_offset)
    throw std::invalid_argument("the array would end beyond 64 bits");
  return header;
}

}  // namespace tailrace
