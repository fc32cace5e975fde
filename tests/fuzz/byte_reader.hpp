#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace tailrace::fuzzing {

/// Takes an input apart from its front. Where it is at its end, everything more is zero: each input means
/// something.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }

  template <typename T>
  T take() {
    T value{};
    const std::span<const std::byte> bytes = take_bytes(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  /// At most `count` bytes.
  std::span<const std::byte> take_bytes(std::size_t count) {
    const std::span<const std::byte> taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  std::string take_text(std::size_t count) {
    const std::span<const std::byte> bytes = take_bytes(count);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> rest_;
};

/// Puts an input together from values that a ByteReader takes apart.
template <typename T>
void append(std::string& input, const T& value) {
  input.append(reinterpret_cast<const char*>(&value), sizeof value);
}

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tailrace::fuzzing
