#pragma once

#include <memory>
#include <optional>

#include "producer/egress/ring_memory.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"
#include "producer/feed.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/job.hpp"
#include "producer/profile/profile_window.hpp"
#include "producer/upload_queue.hpp"
#include "shm/housekeeper.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// One producer's work with a ring, from taking it to removing it. Member order is teardown order.
class RingJob {
 public:
  /// Makes or takes over the ring. `is_measured`: [profile] is about this one. Throws as RingOwner and
  /// ring_spec_for do.
  RingJob(const JobParts& parts, ProducerRole role, bool is_measured, StopSignals& signals);

  /// Publishes what is to do, waits until the consumers have it, and ends the job. Returns the exit code.
  /// When stopped earlier, the ring stays for the next producer. Empty: somebody removed the ring's files;
  /// the consumers have left it, and the work goes on in another one.
  std::optional<int> run();

  /// Take no input any more: as `tailrace drain` asks for.
  void request_drain() const;
  [[nodiscard]] bool draining() const;

 private:
  [[nodiscard]] CounterBlock& counters() const { return owner_.ring().producer().counters; }
  [[nodiscard]] bool stopping() const { return signals_->stop_requested(); }
  [[nodiscard]] bool names_lost() const { return housekeeper_.names_lost(); }
  void publish_all();
  /// Until nothing is in flight, not even at the consumers. False as wait_for_consumers().
  bool drain();
  void check_ring();
  /// False: stopped, or nobody is left who could take the rest, or could join to take it.
  bool wait_for_consumers();
  bool await_all_done();
  /// As run() where a name is lost.
  std::optional<int> leave_lost_ring();
  /// The supervisor is gone, and nobody is left who could make room or take the rest.
  [[nodiscard]] bool abandoned() const;
  [[nodiscard]] bool has_consumers() const;

  JobParts parts_;
  StopSignals* signals_;
  BatchPlan plan_;
  RingOwner owner_;
  Janitor janitor_;
  Housekeeper housekeeper_;
  FreeQueue free_queue_;
  SlotSource slots_;
  InputPipeline input_;
  RingMemory memory_;  // pinned until the copies of egress_ have ended
  UploadQueue uploads_;
  std::unique_ptr<ComputeClock> clock_;
  std::unique_ptr<EgressStrategy> egress_;
  Feed feed_;
  std::optional<ProfileWindow> window_;
};

/// The job in one ring, or in several, one after the other, where somebody removes a ring's files under it.
/// Returns the exit code. Throws as RingJob.
int run_ring_jobs(const JobParts& parts, ProducerRole role, StopSignals& signals);

}  // namespace tailrace
