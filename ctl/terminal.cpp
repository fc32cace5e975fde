#include "ctl/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "files/write_all.hpp"

namespace tailrace {
namespace {

constexpr std::string_view kEnter =
    "\x1b[?1049h\x1b[?25l\x1b[?7l";  // alternate screen, no cursor, no wrapping
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";

bool put(std::string_view text) { return write_all(STDOUT_FILENO, std::as_bytes(std::span(text))) == 0; }

}  // namespace

bool Terminal::is_there() {
  const char* kind = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return isatty(STDOUT_FILENO) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

Terminal::Terminal() {
  termios now{};
  if (tcgetattr(STDIN_FILENO, &now) == 0) {
    input_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    now.c_cc[VMIN] = 0;
    now.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  put(kEnter);
}

Terminal::~Terminal() {
  put(kLeave);
  if (input_) tcsetattr(STDIN_FILENO, TCSAFLUSH, &*input_);
}

ScreenSize Terminal::size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

bool Terminal::show(const std::vector<std::string>& lines) {
  // Lines are cleared before they are written: behind a full one it would take its last character.
  std::string text = "\x1b[H";
  for (std::size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "\x1b[K" : "\r\n\x1b[K") + lines[i];
  if (lines.size() < size().rows) text += "\r\n\x1b[J";
  return put(text);
}

}  // namespace tailrace
