#pragma once

#include <memory>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/egress/ring_memory.hpp"
#include "producer/egress/slot_source.hpp"
#include "producer/egress/strategy.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/model.hpp"
#include "shm/housekeeper.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// One producer's work with a ring, from taking it to removing it. Member order is teardown order.
class RingJob {
 public:
  /// Takes the role and makes or takes over the ring. Throws as RingOwner and ring_spec_for do.
  RingJob(const Config& config, const Source& source, Model& model, Device& device, StopSignals& signals);

  /// Publishes what is to do, and waits until the consumers have it. Returns the exit code. When stopped
  /// earlier, the ring stays for the next producer.
  int run();

 private:
  [[nodiscard]] bool stopping() const { return signals_->stop_requested(); }
  [[nodiscard]] bool draining() const;
  void publish_all();
  void check_ring();
  /// False: stopped, or nobody is left who could take the rest.
  bool wait_for_consumers();
  /// The supervisor is gone, and nobody is left who could make room or take the rest.
  [[nodiscard]] bool abandoned() const;
  [[nodiscard]] bool has_consumers() const;
  [[nodiscard]] int exit_code() const;

  Model* model_;
  StopSignals* signals_;
  RingOwner owner_;
  Janitor janitor_;
  Housekeeper housekeeper_;
  FreeQueue free_queue_;
  SlotSource slots_;
  InputPipeline input_;
  RingMemory memory_;  // pinned until the copies of egress_ have ended
  std::unique_ptr<EgressStrategy> egress_;
  bool said_names_lost_ = false;
};

}  // namespace tailrace
