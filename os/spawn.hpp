#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace tailrace {

/// A program that is about to be started (posix_spawn's two objects, with their clean-up). It gets everything
/// of this process that nothing here changes: standard streams, environment, folder, process group, blocked
/// and ignored signals. Used by one thread. Errors: FileError.
class Spawn {
 public:
  Spawn();
  Spawn(const Spawn&) = delete;
  Spawn& operator=(const Spawn&) = delete;
  ~Spawn();

  /// The process group to join; 0 = one of its own.
  void join_group(pid_t group);
  /// These signals are blocked, all others are not.
  void block_only(std::initializer_list<int> signals);
  /// These are not ignored, whatever this process does with them.
  void handle_by_default(std::initializer_list<int> signals);
  /// Its descriptor `to` is this process's `from`, which stays open until the start.
  void redirect(int from, int to);
  /// Its descriptor `to` gives nothing and takes everything.
  void silence(int to);
  /// Over this process's environment; `name` without "=".
  void set_variable(const std::string& name, const std::string& value);
  /// After all others: of descriptors it gets the standard streams alone.
  void close_all_but_streams();

  /// `command`: what it sees as its arguments, its own name first. `program`: its path; without "/", the
  /// first match in PATH. May be called again.
  [[nodiscard]] pid_t start(const std::string& program, const std::vector<std::string>& command) const;

 private:
  void add_flag(int flag);

  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
  std::vector<std::string> variables_;  // NAME=value
};

}  // namespace tailrace
