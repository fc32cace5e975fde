#pragma once

#include <functional>
#include <memory>

#include "producer/device.hpp"
#include "producer/egress/strategy.hpp"

namespace tailrace {

/// `inline`: no ring and no consumers; the producer copies the batch to host memory and post-processes it
/// itself.
class InlineEgress final : public EgressStrategy {
 public:
  /// Post-processes one batch; the view is valid during the call only.
  using Handler = std::function<void(const BatchView&)>;

  InlineEgress(Device& device, Handler handler);

  [[nodiscard]] bool submit(OutputBatch batch) override;
  void drain() override {}

 private:
  std::span<std::byte> room_for(std::size_t bytes);

  Device* device_;
  Handler handler_;
  std::unique_ptr<HostMemory> memory_;  // grows to the largest batch
};

}  // namespace tailrace
