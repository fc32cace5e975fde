#include "ctl/bench/text_table.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace tailrace {

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
  for (const auto& row : rows)
    for (std::size_t column = 0; column < widths.size(); ++column)
      widths[column] = std::max(widths[column], row.at(column).size());
  std::ostringstream text;
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < widths.size(); ++column)
      text << (column == 0 ? "" : "  ") << (column == 0 ? std::left : std::right)
           << std::setw(static_cast<int>(widths[column])) << row[column];
    text << '\n';
  }
  return text.str();
}

std::string fixed_text(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

}  // namespace tailrace
