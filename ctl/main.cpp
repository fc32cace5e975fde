#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>

#include "config/exit_code_of.hpp"
#include "ctl/bench/bench.hpp"
#include "ctl/clean.hpp"
#include "ctl/command.hpp"
#include "ctl/doctor/doctor.hpp"
#include "ctl/drain.hpp"
#include "ctl/exporter/exporter_action.hpp"
#include "ctl/quarantine.hpp"
#include "ctl/run.hpp"
#include "ctl/scale.hpp"
#include "ctl/status.hpp"
#include "ctl/top.hpp"
#include "ctl/validate.hpp"
#include "shm/lost_pages.hpp"

namespace {

/// Each line of the message under the program's name, so that it can be found among others' in a log.
void print_failure(const std::string& message) {
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) std::cerr << "tailrace: " << line << '\n';
}

/// Files that are opened later must not take the places of streams that the caller has closed. Reading from
/// and writing to the substitutes fails, as it should.
void occupy_closed_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

/// A stream tells that something failed, but not what: one more byte does.
bool has_written_output() {
  std::cout.flush();
  if (std::cout) return true;
  const int reason = write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
  print_failure("cannot write to standard output: " + std::generic_category().message(reason));
  return false;
}

int run(int argc, char** argv) {
  CLI::App app("Moves what a GPU has computed to the processes that use it", "tailrace");
  app.set_version_flag("--version", "tailrace " TAILRACE_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  tailrace::Action action;
  tailrace::add_run(app, action);
  tailrace::add_validate(app, action);
  tailrace::add_status(app, action);
  tailrace::add_scale(app, action);
  tailrace::add_top(app, action);
  tailrace::add_doctor(app, action);
  tailrace::add_drain(app, action);
  tailrace::add_clean(app, action);
  tailrace::add_quarantine(app, action);
  tailrace::add_exporter(app, action);
  tailrace::add_bench(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? tailrace::kExitDone : tailrace::kExitUsage;
  }
  const int code = action();
  return has_written_output() ? code : tailrace::kExitIo;
}

}  // namespace

int main(int argc, char** argv) {
  tailrace::exit_on_lost_pages(tailrace::kExitDamagedRing);
  try {
    occupy_closed_streams();
    return run(argc, argv);
  } catch (const std::exception& error) {
    print_failure(error.what());
    return tailrace::exit_code_of(error);
  }
}
