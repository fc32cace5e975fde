#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "ctl/doctor/bottleneck.hpp"

namespace tailrace {

/// A setting to change: a key of the pipeline's file and, where a number can be named, its value.
struct Setting {
  std::string key;
  std::string value;  // empty: the remedy says what to choose
};

/// A verdict in words.
struct Advice {
  std::string headline;               // what limits
  std::vector<std::string> evidence;  // the figures that show it
  std::string remedy;                 // what to do; empty: nothing
  std::vector<Setting> settings;
  std::string command;  // that does it at once; empty: none
};

/// `pipeline`: its name. `config`: of the pipeline, where known: values that are set now.
Advice advise(const std::string& pipeline, const Verdict& verdict, const PipelineFigures& figures,
              const Config* config);

/// "up to 1.9 times as fast; next limit: the model on the device"
std::string gain_text(const Verdict& verdict);

}  // namespace tailrace
