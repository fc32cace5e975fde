#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"

namespace tailrace {

/// What the generator makes for one pipeline. Paths are relative to the folder for units.
struct PipelineUnits {
  std::map<std::string, std::string> links;     // path → target
  std::map<std::string, std::string> drop_ins;  // path → content
  std::vector<std::string> problems;            // what was left out and why, one line each
};

/// The drop-in of a consumer that runs and that no file asks for: path → content.
std::pair<std::string, std::string> leftover_drop_in(const std::string& service, const std::string& pipeline);

/// Makes the units of a pipeline. Changes nothing anywhere.
class PipelineUnitMaker {
 public:
  /// `pipeline`: its name, which is its file's; `source`: the file; `unit_directory`: where the templates
  /// lie.
  PipelineUnitMaker(std::string pipeline, std::string source, std::string unit_directory);

  /// `processes`: how many consumers a group has.
  PipelineUnits make(Config config, const std::function<std::uint32_t(const GroupConfig&)>& processes);
  /// For a file that cannot be read: the producer alone, which says what is wrong with it.
  PipelineUnits make_for_unreadable();

 private:
  void want(const std::string& service, const std::string& unit_template);
  void add_producer(const Config& config);
  void add_group(const Config& config, const GroupConfig& group, std::uint32_t processes);

  std::string pipeline_;
  std::string source_;
  std::string unit_directory_;
  PipelineUnits units_;
};

}  // namespace tailrace
