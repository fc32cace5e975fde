#include "ctl/drain.hpp"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "config/exit_codes.hpp"
#include "ctl/console.hpp"
#include "ctl/progress.hpp"
#include "ctl/ring_name.hpp"
#include "ctl/ring_watch.hpp"
#include "shm/participant.hpp"
#include "shm/producer_role.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kRound{200};
constexpr std::uint64_t kRateWindowNs = 5'000'000'000;

struct Options {
  std::string name;
  bool no_wait = false;
};

int report_unusable(const AttachAnswer& answer, const std::string& name) {
  if (answer.state == AttachState::kAbsent) {
    std::cerr << "tailrace: there is no ring of pipeline '" << name << "': " << answer.detail << '\n';
    return kExitNoDevice;
  }
  std::cerr << "tailrace: the ring of pipeline '" << name
            << "' cannot be drained: " << (answer.detail.empty() ? "it is being replaced" : answer.detail)
            << '\n';
  return answer.state == AttachState::kIncompatible || answer.state == AttachState::kTooSmall
             ? kExitDamagedRing
             : kExitTryAgain;
}

// The words on what is awaited: nothing moves while nobody is there.
std::string status_of(const Ring& ring, const std::string& name, RateMeter& meter) {
  const Progress progress = read_progress(ring);
  const std::string line = progress_line(name, progress, meter.add(progress));
  return LockLiveness(ring).is_held(kProducerId) ? line : line + "  (no producer; waiting for the next one)";
}

// A producer that lost its ring's names goes on in another one.
bool is_gone(const Ring& ring) {
  return !ring.names_intact() && !LockLiveness(ring).is_held(kProducerId) && !find_producer(ring.files());
}

int wait_until_gone(const Ring& ring, const std::string& name) {
  Console console;
  RateMeter meter(kRateWindowNs);
  while (!is_gone(ring)) {
    console.show(status_of(ring, name, meter));
    std::this_thread::sleep_for(kRound);
  }
  return kExitDone;
}

int drain(const Options& options) {
  const RingFiles files(options.name, RingFiles::kControlDirectory);
  const AttachAnswer answer = attach_ring(files, RingAccess::kOperator);
  if (answer.state != AttachState::kReady) return report_unusable(answer, options.name);
  request_drain(*answer.ring);
  return options.no_wait ? kExitDone : wait_until_gone(*answer.ring, options.name);
}

}  // namespace

void add_drain(CLI::App& app, Action& action) {
  CLI::App& command =
      add_command(app, "drain", "Take no more input, finish what is in flight, wait until the ring is gone");
  const auto options = std::make_shared<Options>();
  add_ring_name(command, options->name)->required();
  command.add_flag("--no-wait", options->no_wait, "Only ask for it");
  command.callback([options, &action] { action = [options] { return drain(*options); }; });
}

}  // namespace tailrace
