#include "consumer/consumer_main.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
#include "config/instance.hpp"
#include "config/load.hpp"
#include "config/text.hpp"
#include "consumer/consumer.hpp"
#include "systemd/program.hpp"
#include "systemd/service.hpp"

namespace tailrace {
namespace {

struct CommandLine {
  std::string config;
  std::string group;
  std::string instance;
  std::string argument;
  std::string pipeline;  // that a service is named after
  unsigned id = 1;
  std::vector<std::string> overrides;

  /// The file and its overrides, as often as it is asked for.
  [[nodiscard]] LoadedConfig load() const {
    LoadedConfig loaded = load_config(config, overrides, process_environment());
    if (!pipeline.empty()) check_pipeline_name(loaded, pipeline);
    return loaded;
  }
};

GroupConfig find_group(const Config& config, const std::string& name) {
  for (const GroupConfig& group : config.groups)
    if (group.name == name) return group;
  throw CLI::ValidationError("--group", "no group '" + name + "' in the configuration (it has: " +
                                            joined(group_names(config)) + ")");
}

void resolve_instance(CommandLine& line) {
  if (line.instance.empty()) return;
  const auto instance = parse_instance(line.instance);
  if (!instance) throw CLI::ValidationError("--instance", "'" + line.instance + "' is not PIPELINE:GROUP:N");
  line.config = find_config(instance->pipeline);
  line.pipeline = instance->pipeline;
  line.group = instance->group;
  line.id = instance->number;
}

ConsumerOptions options_of(const CommandLine& line, const Config& config) {
  ConsumerOptions options;
  options.waits_for_jobs = !line.instance.empty();
  options.config = config;
  options.group = find_group(config, line.group);
  options.id = line.id;
  options.argument = line.argument;
  return options;
}

void add_options(CLI::App& app, const ConsumerProgram& program, CommandLine& line) {
  app.set_version_flag("--version", program.name + " " + program.version, "Print the version and exit");
  if (!program.argument.empty())
    app.add_option(program.argument, line.argument, "Of this program itself")->required();
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
  return std::nullopt;
}

}  // namespace

int consumer_main(int argc, char** argv, const ConsumerProgram& program) {
  CLI::App app(program.description, program.name);
  CommandLine line;
  add_options(app, program, line);
  try {
    app.parse(argc, argv);
    const auto service_name = parse_instance(line.instance);
    return run_program(
        "consumer",
        [&] {
          resolve_instance(line);
          const LoadedConfig loaded = line.load();
          const ConsumerOptions options = options_of(line, loaded.config);
          Service service(
              loaded, [&line] { return line.load(); }, options.name());
          const auto sink = program.make_sink(options);
          return run_consumer(options, *sink, service);
        },
        own_exit_code, service_name ? service_name->pipeline : "");
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
}

}  // namespace tailrace
