#include "consumer/consumer.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "config/exit_codes.hpp"
#include "consumer/batch_worker.hpp"
#include "shm/clock.hpp"
#include "shm/housekeeper.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/notify.hpp"
#include "systemd/ring_log.hpp"

namespace tailrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWait{100};

/// Why a consumer's stay at one ring ended.
enum class SessionEnd {
  kFinished,  // every batch of the job is done for this group
  kStopped,   // asked to stop, or nobody is left to work for
  kMoved,     // the ring was retired or its files are gone: attach again
  kIoFailed,
};

/// One attachment to one ring. Member order is teardown order.
class Session {
 public:
  Session(Ring ring, GroupId group, const ConsumerOptions& options, Sink& sink, StopSignals& signals)
      : ring_(std::move(ring)),
        group_(group),
        signals_(&signals),
        participant_(join(ring_, group)),
        janitor_(ring_, participant_.id(), log_ring_events(ring_).on_reclaim),
        housekeeper_(ring_, participant_, log_ring_events(ring_)),
        dead_letters_(options.config.pipeline.state, options.group.name),
        queue_(ring_, group, participant_, janitor_, options.config.ring.spin),
        worker_(ring_, group, participant_, sink, dead_letters_,
                [this] { return signals_->stop_requested(); }) {}

  SessionEnd run() {
    // The byte first, the state second: a producer that retires the ring waits for whoever holds a byte.
    if (!ring_.names_intact()) return SessionEnd::kMoved;
    for (;;) {
      if (signals_->stop_requested()) return SessionEnd::kStopped;
      if (const auto damage = housekeeper_.damage()) throw DamagedDescriptor("damaged ring: " + *damage);
      notify_watchdog();
      if (const auto end = do_work()) return *end;
    }
  }

 private:
  static Participant join(const Ring& ring, GroupId group) {
    auto participant = Participant::join(ring, group);
    if (!participant)
      throw std::runtime_error("the ring has " + std::to_string(kMaxParticipants - 1) +
                               " consumers already, which is the most there can be");
    return std::move(*participant);
  }

  std::optional<SessionEnd> do_work() {
    Lease lease;
    switch (queue_.wait_lease(lease, kWait)) {
      case LeaseOutcome::kLeased:
        if (worker_.process(std::move(lease)) == BatchOutcome::kGivenBack)
          return signals_->stop_requested() ? SessionEnd::kStopped : SessionEnd::kIoFailed;
        return std::nullopt;
      case LeaseOutcome::kFinished:
        return SessionEnd::kFinished;
      case LeaseOutcome::kRetired:
        return SessionEnd::kMoved;
      case LeaseOutcome::kEmpty:
        return idle();
    }
    return std::nullopt;
  }

  std::optional<SessionEnd> idle() {
    const auto gone_since = housekeeper_.producer_gone_since_ns();
    if (!gone_since) {
      said_gone_ = false;
      return std::nullopt;
    }
    if (housekeeper_.names_lost()) return SessionEnd::kMoved;
    if (signals_->orphaned()) return SessionEnd::kStopped;
    if (!said_gone_)
      spdlog::warn(
          "the producer is gone (since {:.1f} s) and all that it published is done; waiting for the next one",
          static_cast<double>(monotonic_ns() - *gone_since) / 1e9);
    said_gone_ = true;
    return std::nullopt;
  }

  Ring ring_;
  GroupId group_;
  StopSignals* signals_;
  Participant participant_;
  Janitor janitor_;
  Housekeeper housekeeper_;
  DeadLetters dead_letters_;
  ReadyQueue queue_;
  BatchWorker worker_;
  bool said_gone_ = false;
};

/// Waits until there is a ring to attach to. Empty: asked to stop.
std::optional<Ring> wait_for_ring(const RingFiles& files, const StopSignals& signals) {
  std::string said;
  while (!signals.stop_requested() && !signals.orphaned()) {
    AttachAnswer answer = attach_ring(files, RingAccess::kConsumer);
    switch (answer.state) {
      case AttachState::kReady:
        return std::move(answer.ring);
      case AttachState::kIncompatible:
      case AttachState::kTooSmall:
        throw RingMismatch(answer.detail);
      case AttachState::kRetired:
        answer.detail = "the ring is being replaced";
        break;
      case AttachState::kAbsent:
      case AttachState::kInitialising:
        break;
    }
    if (answer.detail != said) spdlog::info("waiting for the producer: {}", answer.detail);
    said = answer.detail;
    notify_watchdog();
    std::this_thread::sleep_for(kWait);
  }
  return std::nullopt;
}

GroupId find_group(const Ring& ring, const std::string& name) {
  const auto group = ring.find_group(name);
  if (group) return *group;
  std::string there;
  for (const GroupSpec& spec : ring.geometry().groups) there += (there.empty() ? "" : ", ") + spec.name;
  throw RingMismatch("the ring has no group '" + name + "' (it has: " + there +
                     "); was the producer started with the same file?");
}

}  // namespace

int run_consumer(const ConsumerOptions& options, StopSignals& signals) {
  const RingFiles files(options.config.pipeline.name, options.config.ring.directory);
  const auto sink = make_sink(options.group.sink, model_input_size(options.config.source));
  notify_ready("waiting for the ring");
  for (;;) {
    auto ring = wait_for_ring(files, signals);
    if (!ring) return kExitDone;
    const GroupId group = find_group(*ring, options.group.name);
    Session session(std::move(*ring), group, options, *sink, signals);
    notify_status("working");
    spdlog::debug("attached");
    switch (session.run()) {
      case SessionEnd::kFinished:
      case SessionEnd::kStopped:
        notify_stopping("leaving");
        return kExitDone;
      case SessionEnd::kIoFailed:
        return kExitIo;
      case SessionEnd::kMoved:
        break;
    }
  }
}

}  // namespace tailrace
