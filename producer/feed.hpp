#pragma once

#include <cstdint>
#include <functional>

#include "producer/compute_clock.hpp"
#include "producer/egress/strategy.hpp"
#include "producer/model.hpp"
#include "producer/upload_queue.hpp"
#include "shm/control_layout.hpp"
#include "shm/counters.hpp"

namespace tailrace {

/// The producer's main loop: input batch → model → egress, one batch at a time.
class Feed {
 public:
  /// Told what the loop is at.
  using OnActivity = std::function<void(Activity)>;

  /// `counters` are the producer's; `input` gives no batch below `first`. Everything outlives the feed.
  Feed(UploadQueue& input, Model& model, ComputeClock& clock, EgressStrategy& egress, CounterBlock& counters,
       BatchNumber first, OnActivity on_activity);

  /// Moves one batch. False: the input is at its end, or egress gave up because of a stop.
  [[nodiscard]] bool do_work();
  /// Every batch has been moved.
  [[nodiscard]] bool at_end() const { return !input_->first_from(next_); }

  /// Waits until everything is published, and all that the device did is counted.
  void drain();

 private:
  static constexpr std::size_t kMaxSaidSkipped =
      100;  // lines; whoever points at the wrong folder gets no flood

  bool move_batch();
  const InputBatch* next_input();
  std::vector<OutputTensor> compute(const InputBatch& batch);
  void count_computed();
  void say_skipped(const std::vector<Row>& rows);

  UploadQueue* input_;
  Model* model_;
  ComputeClock* clock_;
  EgressStrategy* egress_;
  CounterBlock* counters_;
  BatchNumber next_;
  OnActivity on_activity_;
  std::size_t said_skipped_ = 0;
};

}  // namespace tailrace
