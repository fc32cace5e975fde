#include "ctl/scale.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/file_settings.hpp"
#include "config/instance.hpp"
#include "config/service_scale.hpp"
#include "config/text.hpp"
#include "ctl/scale_plan.hpp"
#include "ctl/systemctl.hpp"
#include "files/output_folder.hpp"
#include "files/temporary_file.hpp"
#include "os/unique_fd.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string group;  // PIPELINE:GROUP
  std::uint32_t processes = 0;
  bool dry_run = false;
  std::string directory = kServiceDirectory;

  [[nodiscard]] std::string pipeline_name() const { return group.substr(0, group.find(':')); }
  [[nodiscard]] std::string pipeline_file() const { return directory + "/" + pipeline_name() + ".toml"; }
  [[nodiscard]] std::string group_name() const { return group.substr(group.find(':') + 1); }
};

std::string check_group(const std::string& text) {
  const auto colon = text.find(':');
  if (colon != std::string::npos && is_name(text.substr(0, colon)) && is_name(text.substr(colon + 1)))
    return {};
  return printable(text) + " is not PIPELINE:GROUP, two names of 1 to 64 letters, digits, _ and -";
}

/// Says what is wrong; true: nothing is.
bool has_consumers(const Options& options) {
  const std::string file = options.pipeline_file();
  const Config config = read_file_settings(file).config;
  const std::vector<std::string> names = group_names(config);
  if (std::find(names.begin(), names.end(), options.group_name()) == names.end()) {
    std::cerr << "tailrace: " << file << " has no group '" << options.group_name()
              << "'; it has: " << joined(names) << '\n';
    return false;
  }
  if (config.egress.strategy == EgressStrategyKind::kInline) {
    std::cerr << "tailrace: " << file
              << ": with egress.strategy = \"inline\" the producer does all the work; there are no consumers "
                 "to scale\n";
    return false;
  }
  return true;
}

std::vector<std::string> unit_names(const Options& options, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> names;
  names.reserve(numbers.size());
  for (const std::uint32_t number : numbers)
    names.push_back(consumer_unit(options.pipeline_name(), options.group_name(), std::to_string(number)));
  return names;
}

/// `systemctl VERB UNITS…`, each unit named on stdout first; nothing without units.
void tell_manager(const Options& options, const char* verb, const char* doing,
                  const std::vector<std::uint32_t>& numbers) {
  if (numbers.empty()) return;
  std::vector<std::string> arguments{verb};
  for (const std::string& name : unit_names(options, numbers)) {
    std::cout << (options.dry_run ? "would " : "") << (options.dry_run ? verb : doing) << ' ' << name << '\n';
    arguments.push_back(name);
  }
  std::cout.flush();
  if (!options.dry_run) run_systemctl(arguments);
}

std::string consumers_text(std::uint32_t count) {
  return std::to_string(count) + (count == 1 ? " consumer" : " consumers");
}

/// Read by the generator, so also at the next boot.
void store_scale(const Options& options) {
  const fs::path path = scale_file(options.directory, options.pipeline_name(), options.group_name());
  OutputFolder folder(path.parent_path().string());
  TemporaryFile file(folder.open(""), path.string());
  const std::string text = std::to_string(options.processes) + "\n";
  file.append(std::as_bytes(std::span(text)));
  file.sync();
  file.rename_to(path.filename().string());
  std::cout << options.group << " has " << consumers_text(options.processes) << " from now on ("
            << path.string() << ")\n";
}

/// Says what to do instead; true: services are this user's to change.
bool may_change(const Options& options) {
  if (access(options.directory.c_str(), W_OK) == 0) return true;
  std::cerr << "tailrace: " << options.directory << ": " << std::generic_category().message(errno)
            << "; services are the administrator's: sudo tailrace scale " << options.group << ' '
            << options.processes << '\n';
  return false;
}

/// Two at once for one pipeline would each start and stop by what they saw, and what is stored would be
/// another number. Held until it is closed; waits for who has it.
UniqueFd take_turn(const Options& options) {
  const std::string path = options.pipeline_file();
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) throw std::system_error(errno, std::generic_category(), "cannot open " + path);
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  std::cerr << "tailrace: another `tailrace scale` of this pipeline is at work; waiting for it\n";
  while (flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot lock " + path);
  return file;
}

int scale(const Options& options) {
  if (!has_consumers(options)) return kExitConfig;
  if (!options.dry_run && !may_change(options)) return kExitPermission;
  const UniqueFd turn = options.dry_run ? UniqueFd() : take_turn(options);
  const std::string pipeline = options.pipeline_name();
  const GroupServices services =
      parse_services(run_systemctl({"list-units", "--all", "--plain", "--no-legend", target_unit(pipeline),
                                    consumer_unit(pipeline, options.group_name(), "*")}),
                     pipeline, options.group_name());
  const ScalePlan plan = plan_scale(services, options.processes);
  if (!options.dry_run) {
    store_scale(options);
    run_systemctl({"daemon-reload"});
    if (!plan.reset_failed.empty()) {
      std::vector<std::string> arguments = unit_names(options, plan.reset_failed);
      arguments.insert(arguments.begin(), "reset-failed");
      run_systemctl(arguments);
    }
  }
  tell_manager(options, "stop", "stopping", plan.stop);
  tell_manager(options, "start", "starting", plan.start);
  if (!services.pipeline_active)
    std::cout << target_unit(pipeline) << " is not active: its start "
              << (options.dry_run ? "would start " : "starts ") << consumers_text(options.processes) << '\n';
  else if (plan.start.empty() && plan.stop.empty())
    std::cout << "nothing to start or stop\n";
  return kExitDone;
}

}  // namespace

void add_scale(CLI::App& app, Action& action) {
  CLI::App& command =
      add_command(app, "scale", "Say how many consumer services a group has; start or stop them");
  const auto options = std::make_shared<Options>();
  command.add_option("GROUP", options->group, "Pipeline and group, as PIPELINE:GROUP")
      ->required()
      ->type_name("PIPELINE:GROUP")
      ->check(CLI::Validator(check_group, ""));
  command.add_option("N", options->processes, "Consumers from now on; the newest are stopped first")
      ->required()
      ->type_name("NUMBER")
      ->check(CLI::Range(0u, kMaxScale));
  command.add_flag("--dry-run", options->dry_run, "Only print what would be started and stopped");
  command.add_option("--directory", options->directory, "Where the pipelines' files are")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  command.callback([options, &action] { action = [options] { return scale(*options); }; });
}

}  // namespace tailrace
