#include "ctl/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

namespace tailrace {
namespace {

constexpr const char* kSupervisorVariable = "TAILRACE_SUPERVISOR=";

void check(int error, const std::string& what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// posix_spawn's two objects, with their clean-up.
class SpawnSettings {
 public:
  SpawnSettings() {
    check(posix_spawn_file_actions_init(&actions_), "posix_spawn");
    check(posix_spawnattr_init(&attributes_), "posix_spawn");
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  void set(int stderr_fd, int stdout_fd) {
    sigset_t blocked;
    sigset_t changed;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGHUP);  // a reload waits until the program can do it
    sigemptyset(&changed);
    sigaddset(&changed, SIGPIPE);
    check(posix_spawnattr_setsigmask(&attributes_, &blocked), "posix_spawn");
    check(posix_spawnattr_setsigdefault(&attributes_, &changed), "posix_spawn");
    check(posix_spawnattr_setpgroup(&attributes_, 0), "posix_spawn");
    check(posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP),
          "posix_spawn");
    check(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "posix_spawn");
    if (stderr_fd >= 0)
      check(posix_spawn_file_actions_adddup2(&actions_, stderr_fd, STDERR_FILENO), "posix_spawn");
    if (stdout_fd >= 0)
      check(posix_spawn_file_actions_adddup2(&actions_, stdout_fd, STDOUT_FILENO), "posix_spawn");
  }

  [[nodiscard]] const posix_spawn_file_actions_t* actions() const { return &actions_; }
  [[nodiscard]] const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> child_environment() {
  std::vector<std::string> entries{kSupervisorVariable + std::to_string(getpid())};
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!std::string_view(*entry).starts_with(kSupervisorVariable)) entries.emplace_back(*entry);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Child::Child(std::string title, std::vector<std::string> command, int stderr_fd, int stdout_fd)
    : title_(std::move(title)), command_(std::move(command)), stderr_fd_(stderr_fd), stdout_fd_(stdout_fd) {}

void Child::start() {
  SpawnSettings settings;
  settings.set(stderr_fd_, stdout_fd_);
  std::vector<std::string> variables = child_environment();
  check(posix_spawnp(&pid_, command_.front().c_str(), settings.actions(), settings.attributes(),
                     pointers(command_).data(), pointers(variables).data()),
        "cannot start " + command_.front());
  last_pid_ = pid_;
}

std::optional<int> Child::try_reap() {
  int status = 0;
  if (pid_ <= 0 || waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void Child::send(int signal) const noexcept {
  if (pid_ > 0) ::kill(pid_, signal);
}

void Child::kill_group() const noexcept {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

std::string find_sibling(const std::string& program) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path() / program;
  return !error && access(beside.c_str(), X_OK) == 0 ? beside.string() : program;
}

}  // namespace tailrace
