#include "systemd/generator/writable_paths.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using Paths = std::vector<std::string>;

constexpr std::ptrdiff_t kPartsOfTopFolder = 2;  // "/", "srv"

// "/srv/masks/" and "/srv/masks" are the same folder.
std::string without_slash(const std::string& path) {
  const fs::path normal = fs::path(path).lexically_normal();
  return (normal.has_filename() ? normal : normal.parent_path()).string();
}

void add(Paths& paths, const std::string& path) {
  if (!path.empty() && path != "/" && std::find(paths.begin(), paths.end(), path) == paths.end())
    paths.push_back(path);
}

void add_folder(Paths& paths, const std::string& path) {
  if (!path.empty()) add(paths, without_slash(path));
}

}  // namespace

Paths common_folders(const Config& config) {
  Paths folders;
  add_folder(folders, config.pipeline.state);
  add_folder(folders, config.log.file);
  add_folder(folders, config.ring.directory);
  return folders;
}

Paths sink_folders(const SinkConfig& sink) {
  Paths folders;
  add_folder(folders, sink.path);
  if (!folders.empty() && sink.overlay) add(folders, folders.front() + "-overlay");
  return folders;
}

Paths producer_folders(const Config& config) {
  Paths folders;
  for (const std::string& file : {config.profile.trace, config.profile.report})
    if (!file.empty()) add_folder(folders, fs::path(file).parent_path().string());
  return folders;
}

Paths producer_inputs(const Config& config) {
  Paths inputs;
  add_folder(inputs, config.source.path);
  add_folder(inputs, config.model.path);
  return inputs;
}

Paths with_parents(const Paths& folders) {
  Paths paths;
  for (const std::string& folder : folders) {
    add(paths, folder);
    const fs::path parent = fs::path(folder).parent_path();
    if (std::distance(parent.begin(), parent.end()) > kPartsOfTopFolder) add(paths, parent.string());
  }
  return paths;
}

bool is_within(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

}  // namespace tailrace
