#include "ctl/run.hpp"

#include <memory>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/load.hpp"
#include "ctl/pipeline_run.hpp"

namespace tailrace {

void add_run(CLI::App& app, Action& action) {
  CLI::App& command = add_command(app, "run",
                                  "Run a whole pipeline in the foreground. Ctrl-C finishes what is in "
                                  "flight, a second one stops at once");
  const auto options = std::make_shared<PipelineRun::Options>();
  command.add_option("FILE", options->file, "The pipeline's TOML file")->required();
  command
      .add_option("--set", options->overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_flag(
      "--accept-changed-items", options->accept_changed_items,
      "Go on although the list of items is another one than before: those that are still in it stay "
      "done");
  command.callback([options, &action] {
    action = [options] {
      const Config config = load_config(options->file, options->overrides, process_environment()).config;
      return PipelineRun(config, *options).run();
    };
  });
}

}  // namespace tailrace
