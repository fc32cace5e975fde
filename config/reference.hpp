#pragma once

#include <string>

namespace tailrace {

// What people read about the configuration, made from the table of keys.

/// The shipped pipeline.toml: every key with its default and meaning; loading it gives the defaults.
std::string default_toml();

/// docs/configuration.md
std::string markdown_reference();

/// One line for each key, for --help.
std::string help_text();

}  // namespace tailrace
