#pragma once

#include <exception>

#include "config/exit_codes.hpp"

namespace tailrace {

/// What a program exits with when `error` reached its main: kExitConfig for ConfigError, by errno for
/// std::system_error, kExitTryAgain for std::bad_alloc, else kExitUnexpected.
ExitCode exit_code_of(const std::exception& error);

}  // namespace tailrace
