#include "config/quantities.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>

#include "config/text.hpp"

namespace tailrace {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kMaxDigits = 19;  // 10^19 times the largest unit (2^40, 3.6e12) stays below 2^128

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Ascending; binary before decimal where sizes are printed.
constexpr std::array<Unit, 10> kSizeUnits{{{"B", 1},
                                           {"kB", 1000},
                                           {"KB", 1000},
                                           {"KiB", 1ull << 10},
                                           {"MB", 1000'000},
                                           {"MiB", 1ull << 20},
                                           {"GB", 1000'000'000},
                                           {"GiB", 1ull << 30},
                                           {"TB", 1000'000'000'000},
                                           {"TiB", 1ull << 40}}};
constexpr std::array<Unit, 7> kDurationUnits{{{"ns", 1},
                                              {"us", 1000},
                                              {"µs", 1000},
                                              {"ms", 1000'000},
                                              {"s", 1000'000'000},
                                              {"min", 60'000'000'000},
                                              {"h", 3600'000'000'000}}};
constexpr std::array<Unit, 5> kSizeTextUnits{
    {{"B", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40}}};
constexpr std::array<Unit, 6> kDurationTextUnits{{{"ns", 1},
                                                  {"us", 1000},
                                                  {"ms", 1000'000},
                                                  {"s", 1000'000'000},
                                                  {"min", 60'000'000'000},
                                                  {"h", 3600'000'000'000}}};

struct Decimal {
  std::uint64_t digits = 0;
  std::uint64_t divisor = 1;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes "12" or "1.5" off the front of `text`; empty if there is none, or too many digits.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  std::size_t digit_count = 0;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    if (++digit_count > kMaxDigits) return std::nullopt;
    number.digits = number.digits * 10 + static_cast<std::uint64_t>(text[i] - '0');
    if (point) number.divisor *= 10;
  }
  if (i == 0 || !is_digit(text[0]) || !is_digit(text[i - 1])) return std::nullopt;
  text.remove_prefix(i);
  return number;
}

std::string unit_names(std::span<const Unit> units) {
  std::string names;
  for (const Unit& unit : units) names += (names.empty() ? "" : ", ") + std::string(unit.name);
  return names;
}

Quantity parse(std::string_view text, std::span<const Unit> units, std::string_view example) {
  const std::string shape = "must be a number and a unit such as " + quote(example);
  const auto number = take_decimal(text);
  if (!number) return shape;
  if (text.empty() && number->digits == 0) return std::uint64_t{0};
  if (text.empty()) return shape + "; the unit is missing: one of " + unit_names(units);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == text; });
  if (unit == units.end())
    return shape + "; " + quote(shortened(text, 40)) + " is none of " + unit_names(units);
  const Wide value = (Wide{number->digits} * unit->factor + number->divisor - 1) / number->divisor;
  if (value > std::numeric_limits<std::uint64_t>::max()) return std::string("does not fit in 64 bits");
  return static_cast<std::uint64_t>(value);
}

std::string text_of(std::uint64_t value, std::span<const Unit> units, std::string_view zero) {
  if (value == 0) return std::string(zero);
  const auto unit =
      std::find_if(units.rbegin(), units.rend(), [&](const Unit& u) { return value % u.factor == 0; });
  return std::to_string(value / unit->factor) + " " + std::string(unit->name);
}

}  // namespace

Quantity parse_size_bytes(std::string_view text) { return parse(text, kSizeUnits, "1.5 GiB"); }
Quantity parse_duration_ns(std::string_view text) { return parse(text, kDurationUnits, "250 ms"); }
std::string size_text(std::uint64_t bytes) { return text_of(bytes, kSizeTextUnits, "0 B"); }
std::string duration_text(std::uint64_t nanoseconds) {
  return text_of(nanoseconds, kDurationTextUnits, "0 s");
}

std::string rounded_size_text(std::uint64_t bytes) {
  const auto unit = std::find_if(kSizeTextUnits.rbegin(), kSizeTextUnits.rend() - 1,
                                 [&](const Unit& u) { return bytes >= u.factor; });
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.4g",
                static_cast<double>(bytes) / static_cast<double>(unit->factor));
  return std::string(buffer.data()) + " " + std::string(unit->name);
}

}  // namespace tailrace
