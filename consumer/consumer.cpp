#include "consumer/consumer.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "config/exit_codes.hpp"
#include "consumer/ring_search.hpp"
#include "consumer/session.hpp"
#include "ledger/job_ledger.hpp"
#include "ledger/ledger.hpp"
#include "os/unique_fd.hpp"
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

/// The state folder as it is when the process starts. What a service may write is bound into its view then:
/// a folder that is made anew later is read-only to it.
class StateFolder {
 public:
  explicit StateFolder(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  /// Throws "try again" where that is what is behind `error`: the next process sees the new folder.
  void explain(const LedgerError& error) const {
    struct stat ours {};
    struct stat named {};
    const bool is_same = ::fstat(fd_.get(), &ours) == 0 && ::stat(path_.c_str(), &named) == 0 &&
                         ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
    if (error.code().value() == EROFS && !is_same)
      throw std::system_error(EAGAIN, std::generic_category(),
                              "the folder " + path_ +
                                  " is another one than when this process started, which can write only to "
                                  "that: it has to be started again");
  }

 private:
  const std::string& path_;
  UniqueFd fd_;  // held, or the new folder could get the number of the old one
};

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
  const StateFolder state(options.config.pipeline.state);
  for (bool first = true;; first = false) {
    try {
      const auto place = wait_for_ring(files, options, service);
      if (!place) return kExitDone;
      // What was changed for this job would otherwise be found out only from its results.
      if (!first) service.config.reload();
      spdlog::debug("attached");
      if (const auto code = work_at(*place, options, sink, service)) return *code;
    } catch (const LedgerError& error) {
      state.explain(error);
      throw;
    }
  }
}

}  // namespace tailrace
