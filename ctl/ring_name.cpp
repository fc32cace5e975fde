#include "ctl/ring_name.hpp"

#include "shm/ring_files.hpp"

namespace tailrace {

CLI::Option* add_ring_name(CLI::App& command, std::string& name) {
  const auto check = [](const std::string& text) {
    return is_valid_name(text) ? std::string()
                               : "'" + text + "' cannot name a pipeline: 1 to 64 of A-Z a-z 0-9 _ -";
  };
  return command.add_option("NAME", name, "Name of the pipeline ([pipeline] name)")
      ->check(CLI::Validator(check, "", "pipeline name"));
}

std::string no_ring_text(const std::string& pipeline) {
  if (pipeline.empty()) return "there is no ring on this machine";
  return "there is no ring of pipeline '" + pipeline +
         "': it has not begun, was drained, or its job is complete (manifest.jsonl in its state folder then "
         "says what became of each item); of a service, `systemctl status tailrace-producer@" +
         pipeline + "` says which";
}

}  // namespace tailrace
