#include "ctl/systemctl.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "config/text.hpp"
#include "shm/unique_fd.hpp"

namespace tailrace {
namespace {

struct Pipe {
  UniqueFd out;
  UniqueFd in;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

pid_t spawn(std::vector<std::string> words, int stdout_fd) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, stdout_fd, STDOUT_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv.front(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "cannot start systemctl");
  return pid;
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t bytes = read(fd, buffer.data(), buffer.size());
    if (bytes > 0)
      text.append(buffer.data(), static_cast<std::size_t>(bytes));
    else if (bytes == 0 || errno != EINTR)
      return text;
  }
}

int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

std::string run_systemctl(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"systemctl"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Pipe pipe = make_pipe();
  const pid_t pid = spawn(words, pipe.in.get());
  pipe.in.reset();
  std::string output = read_all(pipe.out.get());
  if (const int code = wait_for(pid); code != 0) {
    throw std::runtime_error("`" + joined(words, " ") + "` ended with " + std::to_string(code));
  }
  return output;
}

}  // namespace tailrace
