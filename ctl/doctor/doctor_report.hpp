#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ctl/doctor/advice.hpp"
#include "ctl/doctor/machine.hpp"
#include "ctl/ring_troubles.hpp"

namespace tailrace {

/// What the doctor has to say of one pipeline.
struct Diagnosis {
  std::string pipeline;
  std::vector<Trouble> troubles;
  std::string not_judged;  // why there is no verdict; empty: there is one
  PipelineFigures figures;
  Verdict verdict;
  Advice advice;
};

// docs/doctor.md has the keys.
nlohmann::ordered_json to_json(const Diagnosis& diagnosis);
nlohmann::ordered_json to_json(const MachineCheck& check);

// For people; end with a line break.
std::string to_text(const Diagnosis& diagnosis);
std::string to_text(const std::vector<MachineCheck>& checks);

}  // namespace tailrace
