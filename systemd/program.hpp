#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <system_error>

namespace tailrace {

/// What every main function does around its work: one catch, one line for people on stderr (or in the log), one exit
/// code for machines. Knows the errors of config/ and shm/ and std::system_error; `own_errors` may map others to exit
/// codes, and is asked first.
int run_program(const std::function<int()>& body,
                const std::function<std::optional<int>(const std::exception&)>& own_errors = {});

/// 77 for missing rights, 75 for missing memory, 74 for everything else that the system refused.
int exit_code_of(const std::error_code& error) noexcept;

}  // namespace tailrace
