#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

/// Whether the name ends with one of `suffixes` (lower case, with the dot), in any case.
bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes);

/// Names, relative to `folder`, of everything below it with one of the `suffixes`, whatever it is (a FIFO, a
/// folder, a dangling link: reading it will say so), sorted by bytes. Hidden files and folders are left out;
/// links to folders are followed, except to a folder that the link is in. Throws std::system_error for a
/// folder that cannot be read: a list with gaps would go unnoticed.
std::vector<std::string> list_folder(const std::filesystem::path& folder,
                                     std::span<const std::string_view> suffixes);

/// The lines of a list file, in its order: "\n" or "\r\n" ends a line, empty lines are left out, everything
/// else belongs to the name. Throws std::invalid_argument for a line that is too long to be a path.
std::vector<std::string> read_list_file(const std::filesystem::path& file);

}  // namespace tailrace
