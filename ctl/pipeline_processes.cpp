#include "ctl/pipeline_processes.hpp"

#include <utility>

namespace tailrace {
namespace {

std::vector<std::string> common_arguments(const std::string& program, const StartOptions& options) {
  std::vector<std::string> command{find_sibling(program), "--config=" + options.file};
  for (const std::string& value : options.overrides) command.push_back("--set=" + value);
  return command;
}

}  // namespace

std::vector<Supervisor::Process> processes_of(const Config& config, const StartOptions& options,
                                              int stderr_fd) {
  std::vector<Supervisor::Process> processes;
  auto producer = common_arguments("tailrace-producer", options);
  if (options.accept_changed_items) producer.emplace_back("--accept-changed-items");
  processes.push_back({Child("producer", std::move(producer), stderr_fd), {}, {}});
  if (config.egress.strategy == EgressStrategyKind::kInline) return processes;
  for (const GroupConfig& group : config.groups)
    for (std::uint32_t id = 1; id <= group.processes; ++id) {
      auto command = common_arguments("tailrace-consumer", options);
      command.push_back("--group=" + group.name);
      command.push_back("--id=" + std::to_string(id));
      const std::string title = "consumer " + group.name + ":" + std::to_string(id);
      processes.push_back({Child(title, std::move(command), stderr_fd), group.name, {}});
    }
  return processes;
}

}  // namespace tailrace
