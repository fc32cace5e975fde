#pragma once

#include <string>
#include <vector>

namespace tailrace {

/// Runs `systemctl` (found in PATH) with these arguments and returns what it printed; its messages go to this
/// process's stderr. Throws std::runtime_error where it fails, FileError where it cannot be started.
std::string run_systemctl(const std::vector<std::string>& arguments);

}  // namespace tailrace
