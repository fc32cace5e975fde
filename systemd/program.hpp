#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace tailrace {

using OwnErrors = std::function<std::optional<int>(const std::exception&)>;

/// The exit code for an error that ends a service: as `own_errors` says, else by what config/, shm/ and
/// std::system_error mean; kExitIo for a FileError that means nothing else.
int service_exit_code(const std::exception& error, const OwnErrors& own_errors);

/// What the main function of every service does around its work: errors become one line each in the log, and
/// one exit code. Logs to stderr as `name` until `body` calls set_up_logging. `service`: the pipeline whose
/// service this is, which hears what its unit lets it write where it was refused a file; empty: none.
int run_program(const std::string& name, const std::function<int()>& body, const OwnErrors& own_errors,
                const std::string& service = {});

}  // namespace tailrace
