#include "consumer/consumer.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <optional>
#include <utility>

#include "config/exit_codes.hpp"
#include "consumer/ring_search.hpp"
#include "consumer/session.hpp"
#include "ledger/job_ledger.hpp"
#include "shm/producer_role.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};

bool should_leave(const StopSignals& signals) { return signals.stop_requested() || signals.orphaned(); }

/// It came too late: the job is complete, and nobody is about to begin another one.
bool is_over(const RingFiles& files, const ConsumerOptions& options, const StopSignals& signals) {
  if (options.waits_for_jobs || signals.supervised()) return false;
  return !find_producer(files) && is_complete(options.config.pipeline.state);
}

/// Waits until there is a ring to attach to. Empty: asked to stop, or there is nothing to do.
std::optional<Place> wait_for_ring(const RingFiles& files, const ConsumerOptions& options, Service& service) {
  RingSearch search(files, options, service.life);
  while (!should_leave(service.signals)) {
    if (auto place = search.look()) return place;
    if (!search.found_nothing() || !is_over(files, options, service.signals)) continue;
    spdlog::info("the job is complete");
    return std::nullopt;
  }
  return std::nullopt;
}

/// Nobody is waited for who has left; so whoever has everything leaves, and looks on: the ring may be opened
/// again by a producer that has found more to do, and goes in the end.
void wait_for_next_job(const Ring& ring, Service& service) {
  spdlog::info("everything is done for this group; waiting for the next job");
  const Lifesign::Stage stage(service.life, "the job is done for this group, waiting for the next one");
  while (!should_leave(service.signals) && ring.state() == RingState::kFinished && ring.names_intact()) {
    service.life.turn();
    const std::uint32_t ticket = ring.ready_events().prepare();
    if (ring.state() == RingState::kFinished)
      ring.ready_events().wait(ticket, kWait, std::chrono::nanoseconds(0));
  }
}

/// The work with one ring. Empty: there may be another one. Otherwise the exit code.
std::optional<int> work_at(const Place& place, const ConsumerOptions& options, Sink& sink, Service& service) {
  switch (Session(place.ring, place.group, options, sink, service).run()) {
    case SessionEnd::kFinished:
      if (!options.waits_for_jobs || service.signals.supervised()) return kExitDone;
      wait_for_next_job(place.ring, service);
      return std::nullopt;
    case SessionEnd::kStopped:
      return kExitDone;
    case SessionEnd::kIoFailed:
      return kExitIo;
    case SessionEnd::kMoved:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

int run_consumer(const ConsumerOptions& options, Sink& sink, Service& service) {
  const RingFiles files(options.config.pipeline.name, options.config.ring.directory);
  {
    const Lifesign::Stage stage(service.life, "waiting for the ring");
    service.life.ready();
  }
  for (bool first = true;; first = false) {
    const auto place = wait_for_ring(files, options, service);
    if (!place) return kExitDone;
    // What was changed for this job would otherwise be found out only from its results.
    if (!first) service.config.reload();
    spdlog::debug("attached");
    if (const auto code = work_at(*place, options, sink, service)) return *code;
  }
}

}  // namespace tailrace
