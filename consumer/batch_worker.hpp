#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "consumer/dead_letter.hpp"
#include "consumer/sinks/recording_sink.hpp"
#include "shm/descriptor.hpp"
#include "shm/participant.hpp"
#include "shm/ready_queue.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// What became of one lease.
enum class BatchOutcome {
  kCommitted,
  kFailed,     // this batch could not be processed: given back with the attempt counted
  kGivenBack,  // the outside refused for longer than patience lasts, or a stop was asked for
};

/// Takes one lease through sink, ledger and commit, in this order: whatever is committed is in the ledger,
/// whatever is in the ledger has its files. Used by the consumer's one thread.
class BatchWorker {
 public:
  /// `isolate`: a batch that used up its attempts is done item by item. A batch may take the group's
  /// progress_limit before the service manager is told that this process is stuck. Everything outlives the
  /// worker.
  BatchWorker(const Ring& ring, GroupId group, const Participant& participant, RecordingSink& sink,
              const DeadLetters& dead_letters, bool isolate, Service& service);

  /// Throws DamagedDescriptor for a slot that no producer wrote. On kGivenBack the reason has been logged.
  BatchOutcome process(Lease lease);

 private:
  /// What the outside has against some work.
  struct Refusal {
    std::string text;
    bool may_pass;
  };

  /// A batch, or an item that is done alone: whoever watches sees that the consumer gets on.
  void note_begun() const;
  BatchOutcome process_with_sink(Lease& lease);
  BatchOutcome quarantine(Lease& lease);
  RecordingSink::Outcome set_aside(const Lease& lease, BatchNumber number,
                                   const std::vector<std::uint64_t>& items);
  RecordingSink::Outcome do_singly(const Lease& lease);
  void commit(Lease& lease, BatchNumber number, const RecordingSink::Outcome& outcome);
  /// retry_io(), which `activity` and the stage `sink` tell of, whatever comes of it.
  bool work_at(Activity activity, const std::function<void()>& work);
  /// Tries until the outside (disk, permissions) lets `work` through. False: gave up.
  bool retry_io(const std::function<void()>& work);
  /// What the outside has against `work`; empty: nothing, it is done.
  [[nodiscard]] std::optional<Refusal> refusal_of(const std::function<void()>& work) const;
  void pause(std::chrono::milliseconds length) const;
  [[nodiscard]] bool stopping() const { return service_->signals.stop_requested(); }
  /// Adds what this thread has waited for storage since the last call to the group's counter.
  void count_storage();

  const Ring* ring_;
  GroupId group_;
  const Participant* participant_;
  RecordingSink* sink_;
  const DeadLetters* dead_letters_;
  bool isolate_;
  Service* service_;
  std::uint64_t counted_storage_ns_;
};

}  // namespace tailrace
