#include "consumer/sinks/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "files/write_all.hpp"
#include "os/child_end.hpp"
#include "os/io_error.hpp"
#include "os/pipe.hpp"
#include "os/spawn.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kTailBytes = 4096;
constexpr std::size_t kPieceBytes = 4096;
constexpr int kPiecesAtOnce = 64;  // more than a pipe holds that its program has left
constexpr int kPipeBytes = 1 << 20;
constexpr int kUnknownEnd = 0xff00;  // exit code 255: what nobody knows is no success

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

void make_non_blocking(const UniqueFd& fd) {
  if (::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK) != 0)
    throw_io_error(errno, "set up", "a pipe");
}

}  // namespace

std::string find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) {
    if (is_program(command)) return command;
    throw_io_error(::access(command.c_str(), F_OK) == 0 ? EACCES : ENOENT, "run", command);
  }
  const char* path = ::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  std::string_view folders = path == nullptr ? "/usr/bin:/bin" : path;
  while (!folders.empty() && !command.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = end == 0 ? "." : folders.substr(0, end);
    if (std::string candidate = std::string(folder) + "/" + command; is_program(candidate)) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  throw_io_error(ENOENT, "find in PATH the program", command);
}

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& argv,
                           std::chrono::milliseconds timeout, GuardedGroup& group)
    : program_(program), group_(&group) {
  if (timeout.count() > 0) deadline_ = std::chrono::steady_clock::now() + timeout;
  Pipe input = make_pipe();
  Pipe errors = make_pipe();
  ::fcntl(input.write.get(), F_SETPIPE_SZ, kPipeBytes);  // fewer switches; the default size works, too
  make_non_blocking(input.write);
  make_non_blocking(errors.read);
  Spawn spawn;
  spawn.redirect(input.read.get(), STDIN_FILENO);
  spawn.redirect(errors.write.get(), STDERR_FILENO);
  pid_ = group.start(spawn, program, argv);
  input_ = std::move(input.write);
  errors_ = std::move(errors.read);
  pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) {
    const int error = errno;
    group_->kill();
    reap();
    throw_io_error(error, "watch", program);
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  group_->kill();
  reap();
}

bool ChildProcess::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    if (!input_ || pid_ < 0) return false;
    const ssize_t written = ::write(input_.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      wait_for_event(true);
    } else if (errno == EPIPE) {
      input_.reset();
    } else if (errno != EINTR) {
      throw_io_error(errno, "write to", program_);
    }
  }
  return true;
}

void ChildProcess::finish() {
  input_.reset();
  while (pid_ >= 0) wait_for_event(false);
  read_errors();
  std::string fault;
  if (WIFSIGNALED(status_))
    fault = "was killed by signal " + std::to_string(WTERMSIG(status_)) + " (" +
            ::sigabbrev_np(WTERMSIG(status_)) + ")";
  else if (WEXITSTATUS(status_) != 0)
    fault = "ended with status " + std::to_string(WEXITSTATUS(status_));
  if (!fault.empty()) throw std::runtime_error(in_quotes(program_) + " " + fault + last_line());
}

void ChildProcess::wait_for_event(bool writable) {
  std::array<pollfd, 3> events{
      {{pidfd_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}, {writable ? input_.get() : -1, POLLOUT, 0}}};
  const int count = ::poll(events.data(), events.size(), remaining_ms());
  if (count < 0 && errno != EINTR) throw_io_error(errno, "watch", program_);
  read_errors();
  if (count > 0 && events[0].revents != 0) {
    reap();
  } else if (remaining_ms() == 0) {
    throw std::runtime_error(in_quotes(program_) + " did not end within its `timeout`, and was killed" +
                             last_line());
  }
}

int ChildProcess::remaining_ms() const {
  if (!deadline_) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 60'000));
}

void ChildProcess::read_errors() {
  std::array<std::byte, kPieceBytes> bytes;
  // Not until there is nothing more: a program that writes without end must not keep its `timeout` from being
  // seen.
  for (int pieces = 0; errors_ && pieces < kPiecesAtOnce; ++pieces) {
    const ssize_t count = ::read(errors_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      const auto piece = std::span(bytes).first(static_cast<std::size_t>(count));
      pass_on(piece);
      tail_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
    } else if (count == 0 || errno != EINTR) {
      if (count == 0) errors_.reset();
      return;
    }
  }
}

// A courtesy: the batch does not depend on it, nor wait for a log that hangs.
void ChildProcess::pass_on(std::span<const std::byte> piece) {
  static_assert(kPieceBytes <= PIPE_BUF);  // what there is room for once poll() says that there is some
  pollfd log{STDERR_FILENO, POLLOUT, 0};
  const bool takes = ::poll(&log, 1, log_patience_ms_) == 1 && (log.revents & POLLOUT) != 0;
  log_patience_ms_ = takes ? kLogPatienceMs : 0;
  if (takes) (void)write_all(STDERR_FILENO, piece);
}

void ChildProcess::reap() {
  status_ = wait_for_end(pid_).value_or(kUnknownEnd);
  pid_ = -1;
}

std::string ChildProcess::last_line() const {
  const std::size_t end = tail_.find_last_not_of("\r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = tail_.rfind('\n', end);
  return "; its last words: " + tail_.substr(begin + 1, end - begin);
}

}  // namespace tailrace
