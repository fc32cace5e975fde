#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tailrace {

// Figures as people read them: three digits, a fitting unit.

std::string percent_text(double share);         // "97 %"
std::string span_text(double seconds);          // "840 µs", "1.2 s", "3:05"; "-" for 0
std::string rate_text(double per_second);       // "0.4", "12.3", "3450"
std::string byte_rate_text(double per_second);  // "18.2 GB/s"

/// Columns that a terminal needs for `text`: UTF-8, every character one column wide.
std::size_t columns(const std::string& text);
/// Filled up with blanks, or cut, to exactly `width` columns.
std::string left_in(std::string text, std::size_t width);
std::string right_in(std::string text, std::size_t width);

}  // namespace tailrace
