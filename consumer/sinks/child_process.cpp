#include "consumer/sinks/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "files/io_error.hpp"
#include "files/write_all.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kTailBytes = 4096;
constexpr int kPipeBytes = 1 << 20;

bool is_program(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

struct Pipe {
  UniqueFd read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_io_error(errno, "open", "a pipe");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void make_non_blocking(const UniqueFd& fd) {
  if (::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK) != 0)
    throw_io_error(errno, "set up", "a pipe");
}

/// posix_spawn's two objects, with their clean-up.
class SpawnSettings {
 public:
  SpawnSettings() {
    check(::posix_spawn_file_actions_init(&actions_));
    check(::posix_spawnattr_init(&attributes_));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  void redirect(const UniqueFd& from, int to) {
    check(::posix_spawn_file_actions_adddup2(&actions_, from.get(), to));
  }

  /// Own process group, nothing blocked, nothing ignored, no descriptors beyond the standard ones.
  void isolate() {
    sigset_t none;
    sigset_t ignored_by_us;
    sigemptyset(&none);
    sigemptyset(&ignored_by_us);
    for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD})
      sigaddset(&ignored_by_us, signal);
    check(::posix_spawnattr_setsigmask(&attributes_, &none));
    check(::posix_spawnattr_setsigdefault(&attributes_, &ignored_by_us));
    check(::posix_spawnattr_setpgroup(&attributes_, 0));
    check(::posix_spawnattr_setflags(&attributes_,
                                     POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
    check(::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1));
  }

  [[nodiscard]] pid_t spawn(const std::string& program, const std::vector<std::string>& argv) const {
    std::vector<char*> arguments;
    arguments.reserve(argv.size() + 1);
    for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = -1;
    const int error =
        ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
    if (error != 0) throw_io_error(error, "run", program);
    return pid;
  }

 private:
  static void check(int error) {
    if (error != 0) throw_io_error(error, "prepare", "a process");
  }

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

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
                           std::chrono::milliseconds timeout)
    : program_(program) {
  if (timeout.count() > 0) deadline_ = std::chrono::steady_clock::now() + timeout;
  Pipe input = make_pipe();
  Pipe errors = make_pipe();
  ::fcntl(input.write.get(), F_SETPIPE_SZ, kPipeBytes);  // fewer switches; the default size works, too
  make_non_blocking(input.write);
  make_non_blocking(errors.read);
  SpawnSettings settings;
  settings.redirect(input.read, STDIN_FILENO);
  settings.redirect(errors.write, STDERR_FILENO);
  settings.isolate();
  pid_ = settings.spawn(program, argv);
  input_ = std::move(input.write);
  errors_ = std::move(errors.read);
  pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!pidfd_) {
    const int error = errno;
    ::kill(-pid_, SIGKILL);
    reap();
    throw_io_error(error, "watch", program);
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  ::kill(-pid_, SIGKILL);
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
  if (!fault.empty()) throw std::runtime_error(quoted(program_) + " " + fault + last_line());
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
    throw std::runtime_error(quoted(program_) + " did not end within its `timeout`, and was killed" +
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
  std::array<std::byte, 4096> bytes;
  while (errors_) {
    const ssize_t count = ::read(errors_.get(), bytes.data(), bytes.size());
    if (count > 0) {
      const auto piece = std::span(bytes).first(static_cast<std::size_t>(count));
      (void)write_all(STDERR_FILENO, piece);  // a courtesy: the batch does not depend on it
      tail_.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
    } else if (count == 0 || errno != EINTR) {
      if (count == 0) errors_.reset();
      return;
    }
  }
}

void ChildProcess::reap() {
  pid_t reaped = -1;
  do {
    reaped = ::waitpid(pid_, &status_, 0);
  } while (reaped < 0 && errno == EINTR);
  pid_ = -1;
  if (reaped < 0) status_ = 0xff00;  // somebody else took the status (SIGCHLD ignored): not a success
}

std::string ChildProcess::last_line() const {
  const std::size_t end = tail_.find_last_not_of("\r\n");
  if (end == std::string::npos) return {};
  const std::size_t begin = tail_.rfind('\n', end);
  return "; its last words: " + tail_.substr(begin + 1, end - begin);
}

}  // namespace tailrace
