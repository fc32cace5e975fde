#pragma once

#include <cstdint>

#include "producer/compute_clock.hpp"
#include "producer/egress/strategy.hpp"
#include "producer/model.hpp"
#include "producer/upload_queue.hpp"
#include "shm/counters.hpp"

namespace tailrace {

/// The producer's main loop: input batch → model → egress, one batch at a time.
class Feed {
 public:
  /// `counters` are the producer's, `first` is the batch that `input` gives first. Everything outlives the
  /// feed.
  Feed(UploadQueue& input, Model& model, ComputeClock& clock, EgressStrategy& egress, CounterBlock& counters,
       BatchNumber first);

  /// Moves one batch. False: the input is at its end, or egress gave up because of a stop.
  [[nodiscard]] bool do_work();

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
  std::size_t said_skipped_ = 0;
};

}  // namespace tailrace
