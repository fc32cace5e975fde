#include "systemd/generator/generator.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "config/file_settings.hpp"
#include "config/instance.hpp"
#include "config/service_scale.hpp"
#include "config/text.hpp"
#include "systemd/generator/pipeline_units.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using Warn = std::function<void(const std::string&)>;

constexpr std::size_t kMaxIssueLines = 3;  // the service names them all

/// The pipelines' files in the order of their names; others are named and left out.
std::vector<fs::path> find_pipelines(const std::string& folder, const Warn& warn) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() != ".toml") continue;
    if (is_name(path.stem().string()) && path.stem().string().front() != '-')
      files.push_back(path);
    else
      warn(printable(shortened(path.string(), 200)) +
           ": left out: a pipeline's file is NAME.toml, with a name of 1 to 64 letters, digits, _ and -, "
           "and no - in front");
  }
  if (error && error != std::errc::no_such_file_or_directory) warn(folder + ": " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

void warn_of_issues(const std::vector<ConfigIssue>& issues, const Warn& warn) {
  for (std::size_t i = 0; i < std::min(issues.size(), kMaxIssueLines); ++i) warn(to_text(issues[i]));
}

std::uint32_t processes_of(const std::string& folder, const std::string& pipeline, const GroupConfig& group,
                           const Warn& warn) {
  const StoredScale stored = read_scale(folder, pipeline, group.name);
  if (!stored.problem.empty()) warn(stored.problem);
  return stored.processes.value_or(group.processes);
}

PipelineUnits make_units(const fs::path& file, const GeneratorFolders& folders, const Warn& warn) {
  const std::string pipeline = file.stem().string();
  PipelineUnitMaker maker(pipeline, file.string(), folders.templates);
  try {
    FileSettings settings = read_file_settings(file.string());
    warn_of_issues(settings.issues, warn);
    return maker.make(std::move(settings.config), [&](const GroupConfig& group) {
      return processes_of(folders.config, pipeline, group, warn);
    });
  } catch (const std::exception& error) {
    warn(shortened(error.what(), 500));
    return maker.make_for_unreadable();
  }
}

void write_units(const PipelineUnits& units, const fs::path& output) {
  for (const auto& [path, content] : units.drop_ins) {
    fs::create_directories((output / path).parent_path());
    std::ofstream file(output / path, std::ios::binary);
    file << content;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + (output / path).string());
  }
  for (const auto& [path, target] : units.links) {
    fs::create_directories((output / path).parent_path());
    fs::create_symlink(target, output / path);
  }
}

/// The consumers that run, as their units are called.
std::vector<std::string> find_running(const std::string& folder) {
  constexpr std::string_view kPrefix = "invocation:tailrace-consumer@";
  std::vector<std::string> services;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(kPrefix)) services.push_back(name.substr(name.find(':') + 1));
  }
  return services;
}

std::optional<Instance> instance_of(const std::string& service) {
  const auto begin = service.find('@') + 1;
  const auto end = service.rfind(".service");
  return end == std::string::npos ? std::nullopt : parse_instance(service.substr(begin, end - begin));
}

PipelineUnits make_leftovers(const GeneratorFolders& folders) {
  PipelineUnits units;
  for (const std::string& service : find_running(folders.running)) {
    const auto instance = instance_of(service);
    if (!instance) continue;
    auto drop_in = leftover_drop_in(service, instance->pipeline);
    if (!fs::exists(fs::path(folders.output) / drop_in.first)) units.drop_ins.insert(std::move(drop_in));
  }
  return units;
}

}  // namespace

void generate_units(const GeneratorFolders& folders, const Warn& warn) {
  for (const fs::path& file : find_pipelines(folders.config, warn)) {
    try {
      const PipelineUnits units = make_units(file, folders, warn);
      for (const std::string& problem : units.problems) warn(file.string() + ": " + problem);
      write_units(units, folders.output);
    } catch (const std::exception& error) {
      warn(file.string() + ": " + error.what());
    }
  }
  try {
    write_units(make_leftovers(folders), folders.output);
  } catch (const std::exception& error) {
    warn(std::string("consumers that run and are no longer asked for: ") + error.what());
  }
}

}  // namespace tailrace
