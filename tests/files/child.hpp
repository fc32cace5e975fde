#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace tailrace::testing {

/// Starts a child that runs `body`.
pid_t start(const std::function<void()>& body);

/// Runs `body` in a child of its own, whose limits, mounts and user may change; gives what it returns.
std::string in_child(const std::function<std::string()>& body);

}  // namespace tailrace::testing
