#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tailrace {

enum class Style { kPlain, kBold, kDim, kGood, kBusy, kBad };

/// One line of a screen: pieces of text with a style each. UTF-8, every character one column wide.
class StyledLine {
 public:
  StyledLine& add(std::string text, Style style = Style::kPlain);
  /// `share` (0…1) of `width` columns filled.
  StyledLine& add_bar(double share, std::size_t width, Style style);
  /// Blanks, so that what comes next, `columns` wide, ends at column `width`.
  StyledLine& align_right(std::size_t columns, std::size_t width);

  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// At most `width` columns; with escape sequences where `colour`.
  [[nodiscard]] std::string render(std::size_t width, bool colour) const;

 private:
  struct Piece {
    std::string text;
    Style style;
  };

  std::vector<Piece> pieces_;
  std::size_t width_ = 0;
};

}  // namespace tailrace
