#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tailrace {

/// Looks again and again, for at most `limit`. False: it never came true.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit = std::chrono::minutes(1));

/// Whether a process of this pid is there and is no zombie.
bool is_alive(pid_t pid);

std::string content_of(const std::filesystem::path& path);

/// A program of the project with arguments, started beside the test, its output in files. The programs are in
/// the folder that TAILRACE_BIN names, or else in the test's own: a build can be copied to another machine.
class StartedProgram {
 public:
  static constexpr const char* kClosed = "-";

  struct Output {
    std::string file;    // for stdout; empty = captured, kClosed = none
    int stderr_fd = -1;  // a terminal, say; -1 = captured
    int screen_fd = -1;  // a terminal for stdin and stdout, in place of `file`; -1 = none
  };

  StartedProgram(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                 const Output& output, const std::string& program = "tailrace");
  StartedProgram(const StartedProgram&) = delete;
  StartedProgram& operator=(const StartedProgram&) = delete;
  ~StartedProgram();  // kills it

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(int signal) const;
  /// Its exit code, or 128 + signal; -1: it did not end within `limit`.
  int wait(std::chrono::seconds limit = std::chrono::minutes(1));
  [[nodiscard]] bool running();
  [[nodiscard]] std::string out() const { return content_of(out_); }
  [[nodiscard]] std::string err() const { return content_of(err_); }

 private:
  pid_t pid_ = 0;
  std::optional<int> code_;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

}  // namespace tailrace
