#include "ctl/styled_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ctl/figures_text.hpp"

namespace tailrace {
namespace {

const char* sequence_of(Style style) {
  switch (style) {
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBusy:
      return "\x1b[36m";
    case Style::kBad:
      return "\x1b[1;31m";
    case Style::kPlain:
      break;
  }
  return "";
}

std::string repeated(const char* text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

}  // namespace

StyledLine& StyledLine::add(std::string text, Style style) {
  width_ += columns(text);
  pieces_.push_back({std::move(text), style});
  return *this;
}

StyledLine& StyledLine::add_bar(double share, std::size_t width, Style style) {
  const auto filled =
      static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(width)));
  return add(repeated("█", filled), style).add(repeated("░", width - filled), Style::kDim);
}

StyledLine& StyledLine::align_right(std::size_t columns, std::size_t width) {
  const std::size_t used = width_ + columns;
  return add(std::string(used < width ? width - used : 1, ' '));
}

std::string StyledLine::render(std::size_t width, bool colour) const {
  std::string line;
  std::size_t left = width;
  for (const Piece& piece : pieces_) {
    const std::string text = left_in(piece.text, std::min(columns(piece.text), left));
    left -= columns(text);
    const bool is_styled = colour && piece.style != Style::kPlain && !text.empty();
    line += is_styled ? sequence_of(piece.style) + text + "\x1b[0m" : text;
  }
  return line;
}

}  // namespace tailrace
