#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/load.hpp"

namespace tailrace {

/// A folder of its own with configuration files in it.
class ConfigFixture : public testing::Test {
 protected:
  ConfigFixture() {
    std::string name = (std::filesystem::temp_directory_path() / "tailrace config XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = std::filesystem::canonical(name);
  }
  ~ConfigFixture() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& text, const std::string& name = "seg.toml") const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  LoadedConfig load(const std::string& text, const std::vector<std::string>& overrides = {},
                    const std::vector<std::string>& environment = {}) const {
    return load_config(write(text), overrides, environment);
  }

  /// One line per fault, without the folder; empty = the text loads.
  std::vector<std::string> faults(const std::string& text, const std::vector<std::string>& overrides = {},
                                  const std::vector<std::string>& environment = {}) const {
    return faults_of_file(write(text), overrides, environment);
  }

  std::vector<std::string> faults_of_file(const std::string& path,
                                          const std::vector<std::string>& overrides = {},
                                          const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> lines;
    try {
      load_config(path, overrides, environment);
    } catch (const ConfigError& error) {
      const std::string prefix = folder_.string() + "/";
      for (const ConfigIssue& issue : error.errors()) {
        std::string line = to_text(issue);
        lines.push_back(line.starts_with(prefix) ? line.substr(prefix.size()) : line);
      }
    }
    return lines;
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
      names.push_back(entry.path().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  static std::string value_of(const LoadedConfig& loaded, const std::string& key) {
    for (const EffectiveValue& value : loaded.values)
      if (value.key == key) return value.value;
    return "(no such key)";
  }

  static std::string origin_of(const LoadedConfig& loaded, const std::string& key) {
    for (const EffectiveValue& value : loaded.values)
      if (value.key == key) return to_text(value.origin);
    return "(no such key)";
  }

  std::filesystem::path folder_;
};

}  // namespace tailrace
