#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ctl/ring_looks.hpp"

namespace tailrace {

struct ScreenSize {
  std::size_t rows = 24;
  std::size_t columns = 80;
};

/// What `tailrace top` shows: at most size.rows lines of at most size.columns columns; where that is too
/// little, consumers are left out first, then what is at the bottom, and it says so. `title`: the first line.
std::vector<std::string> top_screen(const std::string& title, const std::vector<RingLook>& rings,
                                    ScreenSize size, bool colour);

}  // namespace tailrace
