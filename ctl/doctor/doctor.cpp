#include "ctl/doctor/doctor.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/load.hpp"
#include "ctl/doctor/doctor_report.hpp"
#include "ctl/doctor/figures.hpp"
#include "ctl/interval.hpp"
#include "ctl/json_text.hpp"
#include "ctl/ring_looks.hpp"
#include "ctl/ring_name.hpp"
#include "ctl/ring_troubles.hpp"
#include "ctl/systemctl.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string name;
  std::string config;
  double interval_s = 2;
  bool json = false;
};

/// What was seen of the pipelines during one interval.
struct Examination {
  std::vector<RingLook> rings;
  std::optional<double> cpu_busy;
};

Examination examine(const std::vector<std::string>& names, double interval_s) {
  const auto before = read_cpu_ticks();
  Examination examination{watch_rings(names, as_duration(interval_s)), std::nullopt};
  examination.cpu_busy = cpu_busy(before, read_cpu_ticks());
  return examination;
}

Diagnosis diagnose(const RingLook& ring, std::optional<double> cpu_busy, const Config* config) {
  Diagnosis diagnosis{ring.report.name, troubles_of(ring.report), "", {}, {}, {}};
  diagnosis.not_judged = why_not_judged(ring.report, ring.rates).value_or("");
  if (!diagnosis.not_judged.empty()) return diagnosis;
  diagnosis.figures = figures_of(ring.report, *ring.rates, cpu_busy);
  diagnosis.verdict = find_bottleneck(diagnosis.figures);
  diagnosis.advice = advise(ring.report.name, diagnosis.verdict, diagnosis.figures, config);
  return diagnosis;
}

std::vector<RingFacts> facts_of(const std::vector<RingLook>& rings, const Config* config) {
  std::vector<RingFacts> facts;
  for (const RingLook& ring : rings) {
    if (!ring.report.readable()) continue;
    const bool mine = config != nullptr && config->pipeline.name == ring.report.name;
    const RingFiles files(ring.report.name, mine ? config->ring.directory : RingFiles::kControlDirectory);
    facts.push_back(facts_of(ring.report, files.data));
  }
  return facts;
}

void print_json(const std::vector<Diagnosis>& diagnoses, const std::vector<MachineCheck>& checks) {
  Json json{{"pipelines", Json::array()}, {"machine", Json::array()}};
  for (const Diagnosis& diagnosis : diagnoses) json["pipelines"].push_back(to_json(diagnosis));
  for (const MachineCheck& check : checks) json["machine"].push_back(to_json(check));
  std::cout << json_text(json);
}

void print_text(const std::vector<Diagnosis>& diagnoses, const std::vector<MachineCheck>& checks) {
  for (const Diagnosis& diagnosis : diagnoses) std::cout << to_text(diagnosis) << '\n';
  std::cout << to_text(checks);
}

int doctor(const Options& options) {
  std::optional<Config> config;
  if (!options.config.empty()) config = load_config(options.config, {}, process_environment()).config;
  const std::string name = options.name.empty() && config ? config->pipeline.name : options.name;
  const Config* known = config ? &*config : nullptr;
  const Examination seen =
      examine(name.empty() ? std::vector<std::string>{} : std::vector{name}, options.interval_s);
  std::vector<Diagnosis> diagnoses;
  for (const RingLook& ring : seen.rings) diagnoses.push_back(diagnose(ring, seen.cpu_busy, known));
  const auto checks = check_machine({"/", run_systemctl}, facts_of(seen.rings, known), known);
  if (options.json)
    print_json(diagnoses, checks);
  else
    print_text(diagnoses, checks);
  if (!diagnoses.empty() || name.empty()) return kExitDone;
  std::cerr << "tailrace: " << no_ring_text(name) << '\n';
  return kExitNoDevice;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App& command = add_command(
      app, "doctor", "Name the bottleneck of running pipelines, with figures and remedy; check this machine");
  const auto options = std::make_shared<Options>();
  add_ring_name(command, options->name);
  command
      .add_option("--config", options->config,
                  "The pipeline's TOML file: also checks its folders, and knows present settings")
      ->type_name("FILE");
  add_interval(command, options->interval_s, 0.1, "Seconds for which the pipelines are watched");
  command.add_flag("--json", options->json, "Print JSON; docs/doctor.md has the keys");
  command.callback([options, &action] { action = [options] { return doctor(*options); }; });
}

}  // namespace tailrace
