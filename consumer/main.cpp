#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
#include "config/instance.hpp"
#include "config/load.hpp"
#include "consumer/consumer.hpp"
#include "consumer/sinks/sink.hpp"
#include "systemd/log.hpp"
#include "systemd/program.hpp"

namespace {

using namespace tailrace;

struct CommandLine {
  std::string config;
  std::string group;
  std::string instance;
  unsigned id = 1;
  std::vector<std::string> overrides;
};

GroupConfig find_group(const Config& config, const std::string& name) {
  std::string there;
  for (const GroupConfig& group : config.groups) {
    if (group.name == name) return group;
    there += (there.empty() ? "" : ", ") + group.name;
  }
  throw CLI::ValidationError("--group",
                             "no group '" + name + "' in the configuration (it has: " + there + ")");
}

ConsumerOptions load_options(CommandLine line) {
  if (!line.instance.empty()) {
    const auto instance = parse_instance(line.instance);
    if (!instance)
      throw CLI::ValidationError("--instance", "'" + line.instance + "' is not PIPELINE:GROUP:N");
    line.config = find_config(*instance);
    line.group = instance->group;
    line.id = instance->number;
  }
  ConsumerOptions options;
  options.waits_for_jobs = !line.instance.empty();
  options.config = load_config(line.config, line.overrides, process_environment()).config;
  options.group = find_group(options.config, line.group);
  options.id = line.id;
  return options;
}

void add_options(CLI::App& app, CommandLine& line) {
  app.set_version_flag("--version", "tailrace-consumer " TAILRACE_VERSION, "Print the version and exit");
  auto* config = app.add_option("--config", line.config, "The pipeline's TOML file")->type_name("FILE");
  auto* group = app.add_option("--group", line.group, "Group of the file that this process works for")
                    ->type_name("NAME");
  app.add_option("--id", line.id, "Number of this consumer in its group, for logs")->capture_default_str();
  auto* instance =
      app.add_option("--instance", line.instance, "PIPELINE:GROUP:N, reads /etc/tailrace/PIPELINE.toml")
          ->excludes(config)
          ->excludes(group);
  app.add_option("--set", line.overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  config->needs(group);
  app.callback([config, instance] {
    if (config->count() + instance->count() == 0) throw CLI::RequiredError("--config or --instance");
  });
}

std::optional<int> own_exit_code(const std::exception& error) {
  if (dynamic_cast<const CLI::Error*>(&error) != nullptr) return kExitUsage;
  if (dynamic_cast<const FileError*>(&error) == nullptr) return std::nullopt;
  const int code = exit_code_of(error);
  return code == kExitUnexpected ? kExitIo : code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Leases batches from a pipeline's ring, post-processes or stores them, and hands the slots back",
      "tailrace-consumer");
  CommandLine line;
  add_options(app, line);
  try {
    app.parse(argc, argv);
    return run_program(
        "consumer",
        [&] {
          const ConsumerOptions options = load_options(line);
          StopSignals signals;
          set_up_logging(options.config.log, options.identity());
          return run_consumer(options, signals);
        },
        own_exit_code);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
}
