#pragma once

#include <string>
#include <string_view>

#include "shm/ring.hpp"

namespace tailrace {

// Words for what a ring is in, as commands print them.

std::string_view name_of(AttachState state) noexcept;
std::string_view name_of(RingState state) noexcept;  // "unknown" for a damaged word
/// 16 hexadecimal digits.
std::string epoch_text(std::uint64_t epoch);

}  // namespace tailrace
