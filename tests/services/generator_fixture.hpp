#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "systemd/generator/generator.hpp"

namespace tailrace {

/// A folder of configurations, and what the generator makes of it.
class GeneratorTest : public testing::Test {
 protected:
  GeneratorTest() {
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(config_ / "scale.d");
    std::filesystem::create_directories(running_);
  }
  ~GeneratorTest() override { std::filesystem::remove_all(root_); }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(config_ / name, std::ios::binary) << content;
  }

  /// As systemd notes it.
  void runs(const std::string& unit) const {
    std::filesystem::create_symlink("0123456789abcdef", running_ / ("invocation:" + unit));
  }

  void generate() {
    std::filesystem::remove_all(output_);
    warnings_.clear();
    generate_units({config_.string(), "/lib/units", output_.string(), running_.string()},
                   [this](const std::string& line) { warnings_.push_back(line); });
  }

  [[nodiscard]] std::string content(const std::string& path) const {
    std::ostringstream text;
    text << std::ifstream(output_ / path, std::ios::binary).rdbuf();
    return text.str();
  }

  [[nodiscard]] std::string drop_in(const std::string& service) const {
    return content(service + ".service.d/50-tailrace.conf");
  }

  /// The services that a pipeline's target wants, in the order of their names.
  [[nodiscard]] std::vector<std::string> wanted(const std::string& pipeline) const {
    std::map<std::string, int> names;
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(output_ / ("tailrace@" + pipeline + ".target.wants"), error))
      names[entry.path().stem().string()];
    std::vector<std::string> result;
    for (const auto& [name, unused] : names) result.push_back(name);
    return result;
  }

  /// Every generated file and link with what it holds.
  [[nodiscard]] std::map<std::string, std::string> everything() const {
    std::map<std::string, std::string> result;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(output_))
      if (entry.is_symlink())
        result[entry.path().string()] = std::filesystem::read_symlink(entry.path()).string();
      else if (entry.is_regular_file())
        result[entry.path().string()] = content(std::filesystem::relative(entry.path(), output_).string());
    return result;
  }

  [[nodiscard]] const std::filesystem::path& config() const { return config_; }
  [[nodiscard]] const std::filesystem::path& output() const { return output_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("tailrace-generator-test-" + std::to_string(getpid()));
  std::filesystem::path config_ = root_ / "etc";
  std::filesystem::path output_ = root_ / "run";
  std::filesystem::path running_ = root_ / "running";
  std::vector<std::string> warnings_;
};

}  // namespace tailrace
