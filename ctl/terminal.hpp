#pragma once

#include <termios.h>

#include <optional>
#include <string>
#include <vector>

#include "ctl/top_screen.hpp"

namespace tailrace {

/// Standard output as a screen of its own (the alternate one), without cursor and echo, for as long as it
/// lives; the destructor gives the terminal back as it was. One at a time.
class Terminal {
 public:
  /// stdout is a terminal that understands escape sequences.
  static bool is_there();

  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal();

  [[nodiscard]] static ScreenSize size();
  /// In place of what is shown. False: the terminal is gone.
  [[nodiscard]] static bool show(const std::vector<std::string>& lines);

 private:
  std::optional<termios> input_;  // as it was; empty: stdin is no terminal
};

}  // namespace tailrace
