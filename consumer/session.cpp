#include "consumer/session.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

#include "os/clock.hpp"
#include "shm/finished_ring.hpp"
#include "systemd/ledger_wait.hpp"
#include "systemd/ring_log.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};

Participant join(const Ring& ring, GroupId group) {
  auto participant = Participant::join(ring, group);
  if (!participant)
    throw std::runtime_error("the ring has " + std::to_string(kMaxParticipants - 1) +
                             " consumers already, which is the most there can be");
  return std::move(*participant);
}

// "12:03", by the wall clock.
std::string time_of_day(std::uint64_t ns) {
  const auto then = std::time(nullptr) - static_cast<std::time_t>(seconds_since(ns));
  std::tm local{};
  std::array<char, 8> text{};
  localtime_r(&then, &local);
  std::strftime(text.data(), text.size(), "%H:%M", &local);
  return text.data();
}

}  // namespace

Session::Session(const Ring& ring, GroupId group, const ConsumerOptions& options, Sink& sink,
                 Service& service)
    : ring_(&ring),
      group_(group),
      service_(&service),
      participant_(join(ring, group)),
      janitor_(ring, participant_.id(), note_ring_events(ring, options.config.pipeline.state).on_reclaim),
      housekeeper_(ring, participant_, note_ring_events(ring, options.config.pipeline.state)),
      dead_letters_(options.config.pipeline.state, options.group.name),
      sink_(sink, GroupLedger(Ledger::open(options.config.pipeline.state, wait_until_stopped(service)),
                              options.group.name)),
      queue_(ring, group, participant_, janitor_, service.config.ring_spin()),
      worker_(ring, group, participant_, sink_, dead_letters_, options.group.isolate, service),
      stage_(service.life, [this] { return status(); }) {}

SessionEnd Session::run() {
  // The byte first, the state second: a producer that retires the ring waits for whoever holds a byte.
  if (!ring_->names_intact()) return SessionEnd::kMoved;
  for (;;) {
    if (service_->signals.stop_requested()) {
      say_stopped();
      return SessionEnd::kStopped;
    }
    if (const auto damage = housekeeper_.damage()) throw DamagedDescriptor("damaged ring: " + *damage);
    service_->life.turn();
    queue_.set_spin(service_->config.ring_spin());
    participant_.set_progress_limit(service_->config.progress_limit());
    if (const auto end = do_work()) return *end;
  }
}

std::optional<SessionEnd> Session::do_work() {
  Lease lease;
  participant_.enter(Activity::kWaiting);
  LeaseOutcome outcome = queue_.wait_lease(lease, kWait);
  if (outcome == LeaseOutcome::kFinished) outcome = confirm_finished(*ring_, queue_, lease);
  switch (outcome) {
    case LeaseOutcome::kLeased:
      return work_on(std::move(lease));
    case LeaseOutcome::kFinished:
      return SessionEnd::kFinished;
    case LeaseOutcome::kRetired:
      return SessionEnd::kMoved;
    case LeaseOutcome::kEmpty:
      return idle();
  }
  return std::nullopt;
}

std::optional<SessionEnd> Session::work_on(Lease lease) {
  batch_ = value_of(read_batch_number(lease.bytes()));
  if (worker_.process(std::move(lease)) != BatchOutcome::kGivenBack) return std::nullopt;
  return service_->signals.stop_requested() ? SessionEnd::kStopped : SessionEnd::kIoFailed;
}

std::optional<SessionEnd> Session::idle() {
  const auto gone_since = housekeeper_.producer_gone_since_ns();
  if (!gone_since) {
    said_gone_ = false;
    return std::nullopt;
  }
  if (housekeeper_.names_lost()) return SessionEnd::kMoved;
  if (service_->signals.orphaned()) return SessionEnd::kStopped;
  if (!std::exchange(said_gone_, true))
    spdlog::warn("{}, and all that it published is done; waiting for the next one",
                 producer_gone(*gone_since));
  return std::nullopt;
}

void Session::say_stopped() const {
  const std::uint32_t ready = ring_->protocol().count(group_).ready;
  spdlog::info("stopped; {} published batches wait for other consumers of the group", ready);
}

std::string Session::producer_gone(std::uint64_t since_ns) const {
  const auto pid = identity_of(ring_->participants()[index_of(kProducerId)]).pid;
  return "producer" + (pid == 0 ? "" : " pid " + std::to_string(pid)) + " gone since " +
         time_of_day(since_ns);
}

std::string Session::status() const {
  const ParticipantRecord& record = participant_.record();
  // relaxed: figures for people
  const std::string done = std::to_string(record.batches.load(std::memory_order_relaxed)) + " batches done";
  const auto batch = "batch " + std::to_string(batch_.load(std::memory_order_relaxed));
  switch (record.activity.load(std::memory_order_relaxed)) {
    case Activity::kSink: {
      const double since_s = seconds_since(record.activity_since_ns.load(std::memory_order_relaxed));
      return batch + " for " + std::to_string(static_cast<std::uint64_t>(since_s)) + " s; " + done;
    }
    case Activity::kRetrying:
      return "the storage refuses " + batch + ", trying again; " + done;
    case Activity::kQuarantine:
      return "setting " + batch + " aside; " + done;
    default:
      break;
  }
  const auto gone_since = housekeeper_.producer_gone_since_ns();
  return (gone_since ? producer_gone(*gone_since) + ", waiting; " : "waiting for a batch; ") + done;
}

}  // namespace tailrace
