#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace tailrace {

/// A parsed quantity, or what is wrong with the text.
using Quantity = std::variant<std::uint64_t, std::string>;

/// Bytes from "1.5 GiB", "64 MB", "4096 B": a decimal number and B, kB, MB, GB, TB (powers of 1000) or KiB,
/// MiB, GiB, TiB (powers of 1024). Fractions of a byte are rounded up.
Quantity parse_size_bytes(std::string_view text);

/// Nanoseconds from "250 ms", "5 min", "1.5 h"; units ns, us, ms, s, min, h. Fractions of a nanosecond are
/// rounded up. Plain "0" needs no unit.
Quantity parse_duration_ns(std::string_view text);

/// The shortest exact text with the largest fitting unit: "1536 MiB", "5 min", "0 s".
std::string size_text(std::uint64_t bytes);
std::string duration_text(std::uint64_t nanoseconds);

/// For people: four digits, "1.465 GiB".
std::string rounded_size_text(std::uint64_t bytes);

}  // namespace tailrace
