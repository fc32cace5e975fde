#pragma once

#include <string>

#include "config/draft.hpp"
#include "config/toml_value.hpp"

namespace tailrace {

/// Reads a regular file of at most 1 MiB as TOML. Throws ConfigError with what is wrong, and
/// std::system_error (EACCES) where it must not be read.
TomlValue read_config_file(const std::string& path);

/// Puts what the file says into the draft and notes every fault. At least one group is there afterwards.
/// `path` is the file's name in messages.
void apply_document(Draft& draft, const TomlValue& document, const std::string& path);

}  // namespace tailrace
