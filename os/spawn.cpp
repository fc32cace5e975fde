#include "os/spawn.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

void check(int error) {
  if (error != 0) throw_io_error(error, "prepare", "a process");
}

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

std::string_view name_in(std::string_view entry) { return entry.substr(0, entry.find('=')); }

/// What exec wants: it changes none of them. The strings outlive it.
std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> entries = variables;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (std::none_of(variables.begin(), variables.end(),
                     [&](const std::string& one) { return name_in(one) == name_in(*entry); }))
      entries.emplace_back(*entry);
  return entries;
}

}  // namespace

Spawn::Spawn() {
  check(::posix_spawn_file_actions_init(&actions_));
  check(::posix_spawnattr_init(&attributes_));
}

Spawn::~Spawn() {
  ::posix_spawn_file_actions_destroy(&actions_);
  ::posix_spawnattr_destroy(&attributes_);
}

void Spawn::add_flag(int flag) {
  short flags = 0;
  check(::posix_spawnattr_getflags(&attributes_, &flags));
  check(::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags | flag)));
}

void Spawn::join_group(pid_t group) {
  check(::posix_spawnattr_setpgroup(&attributes_, group));
  add_flag(POSIX_SPAWN_SETPGROUP);
}

void Spawn::block_only(std::initializer_list<int> signals) {
  const sigset_t set = set_of(signals);
  check(::posix_spawnattr_setsigmask(&attributes_, &set));
  add_flag(POSIX_SPAWN_SETSIGMASK);
}

void Spawn::handle_by_default(std::initializer_list<int> signals) {
  const sigset_t set = set_of(signals);
  check(::posix_spawnattr_setsigdefault(&attributes_, &set));
  add_flag(POSIX_SPAWN_SETSIGDEF);
}

void Spawn::redirect(int from, int to) { check(::posix_spawn_file_actions_adddup2(&actions_, from, to)); }

void Spawn::silence(int to) {
  check(::posix_spawn_file_actions_addopen(&actions_, to, "/dev/null", O_RDWR, 0));
}

void Spawn::set_variable(const std::string& name, const std::string& value) {
  std::erase_if(variables_, [&](const std::string& one) { return name_in(one) == name; });
  variables_.push_back(name + "=" + value);
}

void Spawn::close_all_but_streams() {
  check(::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1));
}

pid_t Spawn::start(const std::string& program, const std::vector<std::string>& command) const {
  const std::vector<std::string> variables = environment_with(variables_);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, program.c_str(), &actions_, &attributes_, pointers(command).data(),
                                   pointers(variables).data());
  if (error != 0) throw_io_error(error, "start", program);
  return pid;
}

}  // namespace tailrace
