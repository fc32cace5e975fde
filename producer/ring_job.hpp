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
#include "producer/ring_start.hpp"
#include "producer/ring_status.hpp"
#include "producer/upload_queue.hpp"
#include "shm/housekeeper.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// One producer's work with a ring, from taking it to removing it. Member order is teardown order.
class RingJob {
 public:
  /// Makes or takes over the ring. `plan`: what is to do. `is_measured`: [profile] is about this one. Throws
  /// as RingOwner and ring_spec_for do.
  RingJob(const JobParts& parts, BatchPlan plan, ProducerRole role, bool is_measured, Service& service);

  /// Publishes what is to do, waits until the consumers have it, and ends the job. Returns the exit code.
  /// When stopped earlier, the ring stays for the next producer. Empty: the work goes on in another ring,
  /// because somebody removed the files of this one (the consumers have left it), or had items done again.
  std::optional<int> run();

  /// Take no input any more: as `tailrace drain` asks for.
  void request_drain() const;
  [[nodiscard]] bool draining() const;

 private:
  [[nodiscard]] CounterBlock& counters() const { return owner_.ring().producer().counters; }
  [[nodiscard]] bool stopping() const { return service_->signals.stop_requested(); }
  [[nodiscard]] bool names_lost() const { return housekeeper_.names_lost(); }
  /// Returns when the first batch can be served.
  void get_ready();
  void publish_all();
  [[nodiscard]] int stop() const;
  /// Until nothing is in flight, not even at the consumers. False as wait_for_consumers().
  bool drain();
  void check_ring();
  /// False: stopped, or nobody is left who could take the rest, or could join to take it.
  bool wait_for_consumers();
  bool await_all_done();
  /// As run() where a name is lost.
  std::optional<int> leave_lost_ring();
  /// A wait for a free slot is to be given up. The wait is the consumers' doing: this process gets on.
  [[nodiscard]] bool give_up_slot() const;
  /// The supervisor is gone, and nobody is left who could make room or take the rest.
  [[nodiscard]] bool abandoned() const;
  [[nodiscard]] bool has_consumers() const;

  JobParts parts_;
  Service* service_;
  BatchPlan plan_;
  std::optional<RingStart> start_;  // until the first batch can be served
  RingOwner owner_;
  Janitor janitor_;
  Housekeeper housekeeper_;
  FreeQueue free_queue_;
  SlotSource slots_;
  InputPipeline input_;
  StopSignals::StopHook wake_input_;  // whoever waits for input hears of a stop
  RingMemory memory_;                 // pinned until the copies of egress_ have ended
  UploadQueue uploads_;
  std::unique_ptr<ComputeClock> clock_;
  std::unique_ptr<EgressStrategy> egress_;
  Feed feed_;
  std::optional<ProfileWindow> window_;
  RingStatus status_;
  std::optional<Lifesign::Stage> stage_;  // since then
  Lifesign::Helper copies_;
};

/// The job in one ring, or in several, one after the other, where somebody removes a ring's files under it or
/// has items done again. `plan`: what was to do a moment ago. Returns the exit code. Throws as RingJob, and
/// LedgerLost.
int run_ring_jobs(const JobParts& parts, BatchPlan plan, ProducerRole role, Service& service);

}  // namespace tailrace
