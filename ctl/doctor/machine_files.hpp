#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

// Small files of the kernel's, as the checks read them. What is not there or not readable is empty.

std::optional<std::string> first_line(const std::filesystem::path& file);
/// The rest of the line that starts with `prefix`, without the blanks around it.
std::optional<std::string> line_with(const std::filesystem::path& file, std::string_view prefix);
std::optional<std::uint64_t> number_in(std::string_view text, int base = 10);
std::string trimmed(std::string_view text);
/// The word in brackets: "advise" of "always [advise] never".
std::string chosen_word(std::string_view text);
/// Of "0-3,8": 0 1 2 3 8.
std::vector<std::uint32_t> id_list(std::string_view text);

}  // namespace tailrace
