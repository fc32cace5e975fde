#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "shm/ring_files.hpp"

namespace tailrace {

/// Names of the pipelines that have a control file in `directory`, sorted.
std::vector<std::string> list_rings(const std::filesystem::path& directory = RingFiles::kControlDirectory);

/// Names of the pipelines that have any file in one of the directories, half-made ones included; sorted.
std::vector<std::string> list_ring_leftovers(const std::vector<std::filesystem::path>& directories);

/// Which of a ring's files, half-made ones included, are there now.
std::vector<std::filesystem::path> existing_files(const RingFiles& files);

}  // namespace tailrace
