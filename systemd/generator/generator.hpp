#pragma once

#include <functional>
#include <string>

namespace tailrace {

struct GeneratorFolders {
  std::string config;     // of the pipelines' files, PIPELINE.toml
  std::string templates;  // of the unit templates
  std::string output;     // for what is made
  std::string running;    // a link "invocation:UNIT" for each unit that runs
};

/// Makes the units of every pipeline. What is wrong with one never keeps another from being made: `warn` gets
/// a line about it. Consumers that run although no file asks for them any more (fewer processes, a group or a
/// file that is gone, a file that cannot be read) stay part of their pipeline's target: they stop with it,
/// and only then.
void generate_units(const GeneratorFolders& folders, const std::function<void(const std::string&)>& warn);

}  // namespace tailrace
