#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "ledger/job_ledger.hpp"

namespace tailrace {

/// What a pipeline's ledger says of its job, whether the pipeline runs or not.
struct JobReport {
  std::string pipeline;
  std::string file;      // its configuration
  std::string state;     // the ledger's folder; empty: the configuration does not tell
  std::string detail;    // why the rest cannot be read; empty: it can
  JobStanding standing;  // of the groups that the configuration has
};

/// The job of a loaded configuration. Empty: it has never begun. Reads the ledger and holds nobody up; what
/// keeps it from that becomes a `detail`.
std::optional<JobReport> report_on_job(const Config& config, const std::string& file);

/// The jobs of the pipelines whose files are in `directory`, as services have them; `pipeline`: of this one
/// alone; empty: of all, sorted by name.
std::vector<JobReport> report_on_service_jobs(const std::string& directory, const std::string& pipeline);

/// What is wrong, and what to do: a sentence each.
std::vector<std::string> troubles_of(const JobReport& job);

/// For people, in several lines.
std::string job_text(const JobReport& job);

}  // namespace tailrace
