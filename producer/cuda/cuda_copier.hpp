#pragma once

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

 private:
  void use_device() const;

  int device_;
  CudaStreamView compute_;
  std::optional<CudaStream> egress_;
  CudaEvent computed_;
  std::deque<CudaEvent> ended_;  // by lane; a deque, since events do not move
  StreamMarks marks_;            // by lane, behind the events
};

}  // namespace tailrace
