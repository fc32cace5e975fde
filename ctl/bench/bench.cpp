#include "ctl/bench/bench.hpp"

#include "ctl/bench/handoff.hpp"
#include "ctl/bench/ladder.hpp"
#include "ctl/bench/link.hpp"

namespace tailrace {

void add_bench(CLI::App& app, Action& action) {
  CLI::App& command = add_command(app, "bench", "Measure this machine");
  command.require_subcommand(1);
  add_ladder(command, action);
  add_link(command, action);
  add_handoff(command, action);
}

}  // namespace tailrace
