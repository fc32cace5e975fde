#pragma once

#include <string>
#include <string_view>

namespace tailrace {

/// Name of an output file below the output folder: `name` + `suffix`. Throws std::runtime_error naming it
/// where it is unsafe as a path: absolute, empty, a component that is empty, ".", ".." or over 255 bytes, a
/// NUL byte.
std::string output_file_name(std::string_view name, std::string_view suffix);

/// A tensor's name as one path component: letters, digits, "_", "-" and "." (not in front) stay, other bytes
/// become %XX, so that different names never meet.
std::string folder_name_of_tensor(std::string_view tensor);

}  // namespace tailrace
