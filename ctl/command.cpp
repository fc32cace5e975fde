#include "ctl/command.hpp"

namespace tailrace {

CLI::App& add_command(CLI::App& app, const std::string& name, const std::string& description) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.set_version_flag("--version", "tailrace " TAILRACE_VERSION, "Print the version and exit");
  return command;
}

}  // namespace tailrace
