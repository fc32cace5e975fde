#pragma once

#include <memory>

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
  /// Takes the role and makes or takes over the ring. Throws as RingOwner and ring_spec_for do.
  RingJob(const JobParts& parts, StopSignals& signals);

  /// Publishes what is to do, and waits until the consumers have it. Returns the exit code. When stopped
  /// earlier, the ring stays for the next producer.
  int run();

 private:
  [[nodiscard]] CounterBlock& counters() const { return owner_.ring().producer().counters; }
  [[nodiscard]] bool stopping() const { return signals_->stop_requested(); }
  [[nodiscard]] bool draining() const;
  void publish_all();
  /// Until nothing is in flight, not even at the consumers. False as wait_for_consumers().
  bool drain();
  void check_ring();
  /// False: stopped, or nobody is left who could take the rest.
  bool wait_for_consumers();
  bool await_all_done();
  /// The supervisor is gone, and nobody is left who could make room or take the rest.
  [[nodiscard]] bool abandoned() const;
  [[nodiscard]] bool has_consumers() const;
  [[nodiscard]] int exit_code() const;

  JobParts parts_;
  StopSignals* signals_;
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
  ProfileWindow window_;
  bool said_names_lost_ = false;
};

}  // namespace tailrace
