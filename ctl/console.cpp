#include "ctl/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "os/clock.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kPlainEveryNs = 10'000'000'000;
constexpr std::uint64_t kPageBytes = 4096;
constexpr std::size_t kUsualWidth = 80;

UniqueFd make_line_file() {
  UniqueFd fd(memfd_create("tailrace-run-stderr", MFD_CLOEXEC));
  // Each child appends: without it they would write over each other's lines after an exec.
  if (fd && fcntl(fd.get(), F_SETFL, O_APPEND) != 0) fd.reset();
  return fd;
}

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : kUsualWidth;
}

void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

Console::Console() : next_plain_ns_(monotonic_ns() + kPlainEveryNs) {
  if (isatty(STDERR_FILENO) == 1) lines_ = make_line_file();
}

Console::~Console() { finish(); }

void Console::finish() {
  relay();
  if (!unfinished_line_.empty()) print_above_status(unfinished_line_ + "\n");
  unfinished_line_.clear();
  if (!status_.empty()) write_stderr("\r\x1b[K");
  status_.clear();
}

void Console::say(const std::string& message) {
  relay();
  print_above_status("tailrace: " + message + "\n");
}

void Console::show(const std::string& status) {
  if (on_terminal()) {
    status_ = status.substr(0, terminal_width() - 1);
    write_stderr("\r\x1b[K" + status_);
    return;
  }
  if (monotonic_ns() < next_plain_ns_) return;
  next_plain_ns_ = monotonic_ns() + kPlainEveryNs;
  write_stderr("tailrace: " + status + "\n");
}

void Console::relay() {
  if (!on_terminal()) return;
  std::array<char, 1 << 16> piece{};
  std::string text = std::move(unfinished_line_);
  unfinished_line_.clear();
  for (;;) {
    const ssize_t length = pread(lines_.get(), piece.data(), piece.size(), static_cast<off_t>(read_bytes_));
    if (length <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(length));
    read_bytes_ += static_cast<std::uint64_t>(length);
  }
  const std::size_t end = text.rfind('\n') + 1;  // npos + 1 = 0: no whole line
  unfinished_line_ = text.substr(end);
  if (end == 0) return;
  print_above_status(text.substr(0, end));
  // What has been printed need not stay in memory.
  fallocate(lines_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
            static_cast<off_t>(read_bytes_ / kPageBytes * kPageBytes));
}

void Console::print_above_status(const std::string& text) {
  if (status_.empty())
    write_stderr(text);
  else
    write_stderr("\r\x1b[K" + text + status_);
}

}  // namespace tailrace
