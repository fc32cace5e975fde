#include "ctl/figures_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "ctl/progress.hpp"

namespace tailrace {
namespace {

std::string number(double value, const char* unit) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(),
                value < 9.995   ? "%.2f%s"
                : value < 99.95 ? "%.1f%s"
                                : "%.0f%s",
                value, unit);
  return text.data();
}

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

void cut(std::string& text, std::size_t width) {
  std::size_t used = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (begins_character(text[i]) && ++used > width) return text.resize(i);
}

}  // namespace

std::string percent_text(double share) { return std::to_string(std::lround(100 * share)) + " %"; }

std::string span_text(double seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 1e-3) return number(seconds * 1e6, " µs");
  if (seconds < 1) return number(seconds * 1e3, " ms");
  return seconds < 60 ? number(seconds, " s") : clock_text(seconds);
}

std::string rate_text(double per_second) { return number(per_second, ""); }

std::string byte_rate_text(double per_second) {
  if (per_second < 1e6) return number(per_second / 1e3, " kB/s");
  return per_second < 1e9 ? number(per_second / 1e6, " MB/s") : number(per_second / 1e9, " GB/s");
}

std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string left_in(std::string text, std::size_t width) {
  cut(text, width);
  return text + std::string(width - columns(text), ' ');
}

std::string right_in(std::string text, std::size_t width) {
  cut(text, width);
  return std::string(width - columns(text), ' ') + text;
}

}  // namespace tailrace
