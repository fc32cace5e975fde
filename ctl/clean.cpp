#include "ctl/clean.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
#include "ctl/ring_list.hpp"
#include "ctl/ring_name.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

struct Options {
  std::string name;
  std::string directory = RingFiles::kControlDirectory;
};

void report_removed(const std::vector<std::filesystem::path>& before, const RingFiles& files) {
  const auto after = existing_files(files);
  for (const auto& path : before)
    std::cout << (std::find(after.begin(), after.end(), path) == after.end() ? "removed "
                                                                             : "could not remove ")
              << path.string() << '\n';
  const bool had_control = std::find(before.begin(), before.end(), files.control) != before.end();
  if (had_control && std::find(before.begin(), before.end(), files.data) == before.end())
    std::cerr << "tailrace: the ring's data file was not at " << files.data.string()
              << "; if ring.directory is another folder, clean again with --directory\n";
}

int clean_one(const std::string& name, const std::string& directory) {
  const RingFiles files(name, directory);
  const auto before = existing_files(files);
  if (before.empty()) {
    std::cerr << "tailrace: there is nothing of pipeline '" << name << "' in " << RingFiles::kControlDirectory
              << (directory == RingFiles::kControlDirectory ? "" : " and " + directory) << '\n';
    return kExitNoDevice;
  }
  if (const auto holder = clean_ring(files)) {
    std::cerr << "tailrace: pipeline '" << name << "' is in use by " << *holder
              << "; end it first (`tailrace drain " << name
              << "`, or stop its processes where they are of another version)\n";
    return kExitTryAgain;
  }
  report_removed(before, files);
  return existing_files(files).empty() ? kExitDone : kExitPermission;
}

int clean_all(const std::string& directory) {
  int code = kExitDone;
  for (const std::string& name : list_ring_leftovers({RingFiles::kControlDirectory, directory})) {
    try {
      code = std::max(code, clean_one(name, directory));
    } catch (const std::system_error& error) {  // one of another user's, say: the rest can go all the same
      std::cerr << "tailrace: " << name << ": " << error.what() << '\n';
      code = std::max<int>(code, exit_code_of(error));
    }
  }
  return code;
}

}  // namespace

void add_clean(CLI::App& app, Action& action) {
  CLI::App& command =
      add_command(app, "clean", "Remove the rings whose processes are all dead; refuse those in use");
  const auto options = std::make_shared<Options>();
  add_ring_name(command, options->name);
  command.add_option("--directory", options->directory, "Where the data files are (ring.directory)")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  command.callback([options, &action] {
    action = [options] {
      return options->name.empty() ? clean_all(options->directory)
                                   : clean_one(options->name, options->directory);
    };
  });
}

}  // namespace tailrace
