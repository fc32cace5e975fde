#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

/// A path as one word of a list in a unit file: quoted, specifiers (%) escaped. Empty if a unit file cannot
/// hold it (control characters).
std::optional<std::string> unit_file_word(std::string_view path);

/// A drop-in in the making: assignments in the order they were made, each section once.
class DropIn {
 public:
  /// `source`: the file that it is made from, for the comment on top.
  explicit DropIn(const std::string& source);

  void unit(const std::string& assignment) { unit_.push_back(assignment); }
  void service(const std::string& assignment) { service_.push_back(assignment); }

  [[nodiscard]] std::string text() const;

 private:
  std::string source_;
  std::vector<std::string> unit_;
  std::vector<std::string> service_;
};

}  // namespace tailrace
