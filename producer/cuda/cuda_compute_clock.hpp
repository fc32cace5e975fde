#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "producer/compute_clock.hpp"
#include "producer/cuda/event.hpp"
#include "producer/cuda/stream.hpp"

namespace tailrace {

/// Two events around each batch on the compute stream.
class CudaComputeClock final : public ComputeClock {
 public:
  explicit CudaComputeClock(CudaStreamView compute) : compute_(compute) {}

  void start() override;
  void stop() override;
  [[nodiscard]] std::optional<std::chrono::nanoseconds> take() override;

 private:
  struct Pair {
    CudaEvent start{CudaEvent::Timing::kOn};
    CudaEvent stop{CudaEvent::Timing::kOn};
  };

  CudaStreamView compute_;
  std::unique_ptr<Pair> current_;
  std::deque<std::unique_ptr<Pair>> enqueued_;
  std::vector<std::unique_ptr<Pair>> unused_;
};

}  // namespace tailrace
