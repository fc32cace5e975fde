#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

#include "producer/copier.hpp"
#include "producer/cuda/event.hpp"
#include "producer/cuda/stream.hpp"
#include "producer/cuda/stream_marks.hpp"

namespace tailrace {

/// Copies by DMA, an event for each lane. Only pinned destinations are copied beside the host's work.
class CudaCopier final : public Copier {
 public:
  /// `device`: whose copies these are; `compute`: the model's stream.
  CudaCopier(int device, CudaStreamView compute, CopyStream stream, std::size_t lane_count);

  void submit(std::size_t lane, std::span<const DeviceCopy> copies) override;
  bool has_ended(std::size_t lane) override;
  void wait(std::size_t lane) override;
  [[nodiscard]] std::chrono::nanoseconds took(std::size_t lane) override;

 private:
  struct Times {
    CudaEvent begun{CudaEvent::Timing::kOn};
    CudaEvent ended{CudaEvent::Timing::kOn};
  };
  // Two turns: a lane is submitted again before its last time was asked for, but not twice.
  struct Lane {
    std::array<Times, 2> turns;
    std::uint64_t submitted = 0;  // of the thread that submits
    std::uint64_t asked_for = 0;  // of the thread that waits
  };

  [[nodiscard]] Times& waited_for(std::size_t lane);

  void use_device() const;

  int device_;
  CudaStreamView compute_;
  std::optional<CudaStream> egress_;
  CudaEvent computed_;
  std::deque<Lane> lanes_;  // a deque, since events do not move
  StreamMarks marks_;       // by lane, behind the events
};

}  // namespace tailrace
