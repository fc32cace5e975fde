#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "shm/unique_fd.hpp"

namespace tailrace {

/// posix_spawn's two objects, with their clean-up: a process with nothing of this one but the standard
/// descriptors, the environment and the folder; no signal blocked or ignored. Errors: FileError.
class SpawnSettings {
 public:
  /// `group`: the process group to join; 0 = one of its own.
  explicit SpawnSettings(pid_t group);
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings();

  void redirect(const UniqueFd& from, int to);
  /// `to` gives nothing and takes everything.
  void silence(int to);
  [[nodiscard]] pid_t spawn(const std::string& program, const std::vector<std::string>& argv);

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace tailrace
