#pragma once

#include <functional>
#include <string>

namespace tailrace {

struct GeneratorFolders {
  std::string config;     // of the pipelines' files, PIPELINE.toml
  std::string templates;  // of the unit templates
  std::string output;     // for what is made
};

/// Makes the units of every pipeline. What is wrong with one never keeps another from being made: `warn` gets
/// a line about it.
void generate_units(const GeneratorFolders& folders, const std::function<void(const std::string&)>& warn);

}  // namespace tailrace
