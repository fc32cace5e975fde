#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

// The column `files`: a JSON array of paths; bytes that are no UTF-8 are replaced by U+FFFD.

/// nullopt where there are none.
[[nodiscard]] std::optional<std::string> to_files_column(const std::vector<std::string>& files);

/// Empty text: no files. Throws LedgerError (EBADMSG) where it is no such array.
[[nodiscard]] std::vector<std::string> from_files_column(std::string_view text);

}  // namespace tailrace
