#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "consumer/batch_worker.hpp"
#include "consumer/options.hpp"
#include "shm/housekeeper.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// Why a consumer's stay at one ring ended.
enum class SessionEnd {
  kFinished,  // every batch of the job is done for this group
  kStopped,   // asked to stop, or nobody is left to work for
  kMoved,     // the ring was retired or its files are gone: attach again
  kIoFailed,
};

/// A consumer's work with one ring. Used by its one thread. Member order is teardown order.
class Session {
 public:
  /// Everything outlives the session. Throws std::runtime_error where the ring has no room for another
  /// consumer.
  Session(const Ring& ring, GroupId group, const ConsumerOptions& options, Sink& sink, Service& service);

  SessionEnd run();

 private:
  std::optional<SessionEnd> do_work();
  std::optional<SessionEnd> work_on(Lease lease);
  std::optional<SessionEnd> idle();
  void say_stopped() const;
  /// For people. Any thread.
  [[nodiscard]] std::string status() const;
  /// "producer pid 12 gone since 12:03"
  [[nodiscard]] std::string producer_gone(std::uint64_t since_ns) const;

  const Ring* ring_;
  GroupId group_;
  Service* service_;
  Participant participant_;
  Janitor janitor_;
  Housekeeper housekeeper_;
  DeadLetters dead_letters_;
  RecordingSink sink_;
  ReadyQueue queue_;
  BatchWorker worker_;
  std::atomic<std::uint64_t> batch_{0};  // that is worked on, or was
  bool said_gone_ = false;
  Lifesign::Stage stage_;
};

}  // namespace tailrace
