#pragma once

#include <stdexcept>
#include <string>

namespace tailrace {

/// A measurement that came to no result, with the exit code that tells why.
class BenchError : public std::runtime_error {
 public:
  BenchError(const std::string& message, int exit_code)
      : std::runtime_error(message), exit_code_(exit_code) {}

  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }

 private:
  int exit_code_;
};

}  // namespace tailrace
