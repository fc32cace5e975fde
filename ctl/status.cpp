#include "ctl/status.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/instance.hpp"
#include "config/load.hpp"
#include "ctl/interval.hpp"
#include "ctl/job_report.hpp"
#include "ctl/json_text.hpp"
#include "ctl/ring_looks.hpp"
#include "ctl/ring_name.hpp"
#include "ctl/status_json.hpp"
#include "ctl/status_text.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  std::string config;
  std::string directory = kServiceDirectory;
  double interval_s = 0.5;
  bool json = false;
};

/// What one look tells.
struct Seen {
  std::string name;  // of the only pipeline that was looked for; empty: of all
  std::vector<RingLook> rings;
  std::vector<JobReport> jobs;
};

Seen look(const Options& options) {
  if (options.config.empty())
    return {options.name, {}, report_on_service_jobs(options.directory, options.name)};
  const Config config = load_config(options.config, {}, process_environment()).config;
  Seen seen{config.pipeline.name, {}, {}};
  if (auto job = report_on_job(config, options.config)) seen.jobs.push_back(*std::move(job));
  return seen;
}

void print_json(const Seen& seen) {
  Json json{{"rings", Json::array()}, {"jobs", Json::array()}};
  for (const RingLook& ring : seen.rings) json["rings"].push_back(status_json(ring.report, ring.rates));
  for (const JobReport& job : seen.jobs) json["jobs"].push_back(status_json(job));
  std::cout << json_text(json);
}

void print_text(const Seen& seen) {
  for (const RingLook& ring : seen.rings) std::cout << status_text(ring.report, ring.rates);
  for (const JobReport& job : seen.jobs) std::cout << job_text(job);
}

int status(const Options& options) {
  Seen seen = look(options);
  seen.rings = watch_rings(seen.name.empty() ? std::vector<std::string>{} : std::vector{seen.name},
                           as_duration(options.interval_s));
  options.json ? print_json(seen) : print_text(seen);
  if (seen.rings.empty()) std::cerr << "tailrace: " << no_ring_text(seen.name) << '\n';
  const bool is_missing = !seen.name.empty() && seen.rings.empty() && seen.jobs.empty();
  return is_missing ? kExitNoDevice : kExitDone;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  CLI::App& command =
      add_command(app, "status", "Show the rings on this machine, who works with them, and how jobs stand");
  const auto options = std::make_shared<Options>();
  auto* name = add_ring_name(command, options->name);
  command
      .add_option("--config", options->config,
                  "Instead of NAME: a pipeline's TOML file, which also tells where its ledger is")
      ->type_name("FILE")
      ->excludes(name);
  command
      .add_option("--directory", options->directory,
                  "Where the services' files are, whose ledgers are read as well")
      ->type_name("FOLDER")
      ->capture_default_str();
  add_interval(command, options->interval_s, 0,
               "Seconds over which rates are taken; 0 = look once, no rates");
  command.add_flag("--json", options->json, "Print JSON; docs/status.md has the keys");
  command.callback([options, &action] { action = [options] { return status(*options); }; });
}

}  // namespace tailrace
