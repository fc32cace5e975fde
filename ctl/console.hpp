#pragma once

#include <cstdint>
#include <string>

#include "os/unique_fd.hpp"

namespace tailrace {

/// Standard error of `tailrace run`. On a terminal there is a status line at the bottom, redrawn in place,
/// and the children's lines are printed above it: they write into a file in memory (child_stderr()) that this
/// object reads. A file rather than a pipe, so that children neither block when `run` is stopped nor fail
/// when it is killed. Elsewhere the children share stderr, and the status is a plain line now and then.
/// Errors of writing are ignored: no pipeline stops because nobody looks. Used by one thread.
class Console {
 public:
  Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  /// Where a child's stderr should go; -1: it keeps this process's.
  [[nodiscard]] int child_stderr() const noexcept { return lines_.get(); }
  /// Prints a message of this program.
  void say(const std::string& message);
  /// Shows the status: at once on a terminal, else if the last one is 10 s old.
  void show(const std::string& status);
  /// Prints the whole lines that the children have written since the last call. Nothing where they share
  /// stderr.
  void relay();
  /// The end: prints what is left, takes the status away.
  void finish();

 private:
  [[nodiscard]] bool on_terminal() const noexcept { return static_cast<bool>(lines_); }
  void print_above_status(const std::string& text);

  UniqueFd lines_;
  std::uint64_t read_bytes_ = 0;
  std::string unfinished_line_;
  std::string status_;
  std::uint64_t next_plain_ns_;
};

}  // namespace tailrace
