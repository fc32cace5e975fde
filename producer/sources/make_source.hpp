#pragma once

#include <memory>

#include "config/config.hpp"
#include "producer/input.hpp"

namespace tailrace {

/// The source that `config` names. Lists every item once; nothing is decoded yet. Throws std::system_error
/// (a folder cannot be read) or std::invalid_argument (nothing to read, damaged arrays, a build without
/// images), with a message that names the path.
std::unique_ptr<Source> make_source(const SourceConfig& config);

}  // namespace tailrace
