#include "ctl/status.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "ctl/interval.hpp"
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
  double interval_s = 0.5;
  bool json = false;
};

int status(const Options& options) {
  const auto rings =
      watch_rings(options.name.empty() ? std::vector<std::string>{} : std::vector{options.name},
                  as_duration(options.interval_s));
  if (options.json) {
    Json json{{"rings", Json::array()}};
    for (const RingLook& ring : rings) json["rings"].push_back(status_json(ring.report, ring.rates));
    std::cout << json_text(json);
  } else {
    for (const RingLook& ring : rings) std::cout << status_text(ring.report, ring.rates);
  }
  if (!rings.empty()) return kExitDone;
  std::cerr << "tailrace: " << no_ring_text(options.name) << '\n';
  return options.name.empty() ? kExitDone : kExitNoDevice;
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  CLI::App& command = add_command(app, "status", "Show the rings on this machine and who works with them");
  const auto options = std::make_shared<Options>();
  add_ring_name(command, options->name);
  add_interval(command, options->interval_s, 0,
               "Seconds over which rates are taken; 0 = look once, no rates");
  command.add_flag("--json", options->json, "Print JSON; docs/status.md has the keys");
  command.callback([options, &action] { action = [options] { return status(*options); }; });
}

}  // namespace tailrace
