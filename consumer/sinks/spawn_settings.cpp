#include "consumer/sinks/spawn_settings.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "files/io_error.hpp"

namespace tailrace {
namespace {

void check(int error) {
  if (error != 0) throw_io_error(error, "prepare", "a process");
}

}  // namespace

SpawnSettings::SpawnSettings(pid_t group) {
  check(::posix_spawn_file_actions_init(&actions_));
  check(::posix_spawnattr_init(&attributes_));
  sigset_t none;
  sigset_t ignored_by_us;
  sigemptyset(&none);
  sigemptyset(&ignored_by_us);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD})
    sigaddset(&ignored_by_us, signal);
  check(::posix_spawnattr_setsigmask(&attributes_, &none));
  check(::posix_spawnattr_setsigdefault(&attributes_, &ignored_by_us));
  check(::posix_spawnattr_setpgroup(&attributes_, group));
  check(::posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP));
}

SpawnSettings::~SpawnSettings() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void SpawnSettings::redirect(const UniqueFd& from, int to) {
  check(::posix_spawn_file_actions_adddup2(&actions_, from.get(), to));
}

void SpawnSettings::silence(int to) {
  check(::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_RDWR, 0));
}

pid_t SpawnSettings::spawn(const std::string& program, const std::vector<std::string>& argv) {
  check(::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1));
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, program.c_str(), &actions_, &attributes_, arguments.data(), environ);
  if (error != 0) throw_io_error(error, "run", program);
  return pid;
}

}  // namespace tailrace
