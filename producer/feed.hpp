#pragma once

#include <cstdint>
#include <functional>

#include "producer/egress/strategy.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/model.hpp"
#include "shm/counters.hpp"

namespace tailrace {

/// The producer's main loop: input batch → model → egress, one batch at a time.
class Feed {
 public:
  using ShouldStop = std::function<bool()>;

  /// `counters` are the producer's. Everything outlives the feed.
  Feed(InputPipeline& input, Model& model, EgressStrategy& egress, CounterBlock& counters, BatchNumber first);

  /// Moves one batch. False: the input is at its end, or egress gave up because of a stop.
  [[nodiscard]] bool do_work();

 private:
  static constexpr std::size_t kMaxSaidSkipped =
      100;  // lines; whoever points at the wrong folder gets no flood

  const InputBatch* next_input();
  void say_skipped(const std::vector<Row>& rows);

  InputPipeline* input_;
  Model* model_;
  EgressStrategy* egress_;
  CounterBlock* counters_;
  BatchNumber next_;
  std::size_t said_skipped_ = 0;
};

}  // namespace tailrace
