#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

/// Names one behind the other, each ended by NUL, as the ledger keeps them. A name ends at its first NUL.
class NameList {
 public:
  NameList() = default;
  /// What text() gave; what follows the last NUL is dropped.
  explicit NameList(std::string text);

  void add(std::string_view name);

  [[nodiscard]] std::size_t size() const noexcept { return starts_.size() - 1; }
  /// Holds until the next `add`.
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    return std::string_view(text_).substr(starts_[index], starts_[index + 1] - starts_[index] - 1);
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::vector<std::size_t> starts_{0};  // and the end of the last one
};

}  // namespace tailrace
