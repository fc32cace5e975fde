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
#include "ledger/job_ledger.hpp"
#include "shm/clock.hpp"
#include "shm/finished_ring.hpp"
#include "shm/housekeeper.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/ledger_wait.hpp"
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
        signals_(&signals),
        participant_(join(ring_, group)),
        janitor_(ring_, participant_.id(), note_ring_events(ring_, options.config.pipeline.state).on_reclaim),
        housekeeper_(ring_, participant_, note_ring_events(ring_, options.config.pipeline.state)),
        dead_letters_(options.config.pipeline.state, options.group.name),
        sink_(sink, GroupLedger(Ledger::open(options.config.pipeline.state, wait_until_stopped(signals)),
                                options.group.name)),
        queue_(ring_, group, participant_, janitor_, options.config.ring.spin),
        worker_(ring_, group, participant_, sink_, dead_letters_, options.group.isolate,
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
    participant_.enter(Activity::kWaiting);
    LeaseOutcome outcome = queue_.wait_lease(lease, kWait);
    if (outcome == LeaseOutcome::kFinished) outcome = confirm_finished(ring_, queue_, lease);
    switch (outcome) {
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
  StopSignals* signals_;
  Participant participant_;
  Janitor janitor_;
  Housekeeper housekeeper_;
  DeadLetters dead_letters_;
  RecordingSink sink_;
  ReadyQueue queue_;
  BatchWorker worker_;
  bool said_gone_ = false;
};

struct Place {
  Ring ring;
  GroupId group;
};

std::string no_such_group(const Ring& ring, const std::string& name) {
  std::string there;
  for (const GroupSpec& spec : ring.geometry().groups) there += (there.empty() ? "" : ", ") + spec.name;
  return "the ring has no group '" + name + "' (it has: " + there +
         "); was the producer started with the same file?";
}

/// The way to a ring, one look after the other.
class Search {
 public:
  Search(const RingFiles& files, const ConsumerOptions& options)
      : files_(&files), group_(&options.group.name), state_(&options.config.pipeline.state) {}

  /// Empty: not yet. Throws RingMismatch where a living producer has a ring that is of no use here.
  std::optional<Place> look() {
    AttachAnswer answer = attach_ring(*files_, RingAccess::kConsumer);
    found_nothing_ = answer.state == AttachState::kAbsent;
    switch (answer.state) {
      case AttachState::kReady:
        return judge(std::move(*answer.ring));
      case AttachState::kIncompatible:
      case AttachState::kTooSmall:
        wait_for_another(answer.detail);
        break;
      case AttachState::kRetired:
        wait("the ring is being replaced");
        break;
      case AttachState::kAbsent:
        wait("there is no ring yet");
        break;
      case AttachState::kInitialising:
        wait(answer.detail);
        break;
    }
    return std::nullopt;
  }
  /// At the last look there was no ring.
  [[nodiscard]] bool found_nothing() const { return found_nothing_; }

 private:
  std::optional<Place> judge(Ring ring) {
    const auto group = ring.find_group(*group_);
    if (!group) {
      wait_for_another(no_such_group(ring, *group_));
      return std::nullopt;
    }
    // Its rows would say of this ledger's items what became of another's. The producer decides.
    if (ledger_id(*state_) != ring.geometry().ledger_id) {
      wait("the ring belongs to another ledger than " + ledger_path(*state_));
      return std::nullopt;
    }
    return Place{std::move(ring), *group};
  }

  // What a dead producer left is the next one's to replace, which a moment ago may just have begun.
  void wait_for_another(const std::string& fault) {
    misfits_ = find_producer(*files_) ? misfits_ + 1 : 0;
    if (misfits_ > kMaxMisfits) throw RingMismatch(fault);
    wait(fault);
  }

  void wait(const std::string& reason) {
    if (reason != said_) spdlog::info("waiting for the producer: {}", reason);
    said_ = reason;
    notify_watchdog();
    std::this_thread::sleep_for(kWait);
  }

  static constexpr int kMaxMisfits = 20;  // looks in a row

  const RingFiles* files_;
  const std::string* group_;
  const std::string* state_;
  std::string said_;
  bool found_nothing_ = false;
  int misfits_ = 0;
};

/// It came too late: the job is complete, and nobody is about to begin another one.
bool is_over(const RingFiles& files, const ConsumerOptions& options, const StopSignals& signals) {
  if (options.waits_for_jobs || signals.supervised()) return false;
  return !find_producer(files) && is_complete(options.config.pipeline.state);
}

/// Waits until there is a ring to attach to. Empty: asked to stop, or there is nothing to do.
std::optional<Place> wait_for_ring(const RingFiles& files, const ConsumerOptions& options,
                                   const StopSignals& signals) {
  Search search(files, options);
  while (!signals.stop_requested() && !signals.orphaned()) {
    if (auto place = search.look()) return place;
    if (!search.found_nothing() || !is_over(files, options, signals)) continue;
    spdlog::info("the job is complete");
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

int run_consumer(const ConsumerOptions& options, StopSignals& signals) {
  const RingFiles files(options.config.pipeline.name, options.config.ring.directory);
  const auto sink = make_sink(options.group.sink, model_input_size(options.config.source));
  notify_ready("waiting for the ring");
  for (;;) {
    auto place = wait_for_ring(files, options, signals);
    if (!place) return kExitDone;
    Session session(std::move(place->ring), place->group, options, *sink, signals);
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
