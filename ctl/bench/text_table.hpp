#pragma once

#include <string>
#include <vector>

namespace tailrace {

/// Rows of cells in columns two spaces apart, the first one aligned to the left, the others to the right. All
/// rows have as many cells as the first.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// `value` with this many digits behind the point.
std::string fixed_text(double value, int digits);

}  // namespace tailrace
