#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace tailrace {

/// What the main function of every service does around its work: errors become one line each in the log, and
/// one exit code. Knows the errors of config/ and shm/ and std::system_error; `own_errors` is asked first.
/// Logs to stderr as `name` until `body` calls set_up_logging.
int run_program(const std::string& name, const std::function<int()>& body,
                const std::function<std::optional<int>(const std::exception&)>& own_errors);

}  // namespace tailrace
