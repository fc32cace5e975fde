#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "producer/device.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// Pins slots of a ring one by one, all or none: a ring that is pinned in part would copy unevenly. They stay
/// pinned for as long as this lives, so copies into them end first. Used by the producer's constructing
/// thread. Ring and device outlive it.
class PinnedSlots {
 public:
  PinnedSlots(const Ring& ring, Device& device);

  /// Precondition: the slot has its memory. Where it cannot be pinned, those that are are released, and no
  /// more are tried.
  void pin(SlotId slot);

  [[nodiscard]] std::size_t count() const noexcept { return pins_.size(); }
  /// Why nothing is pinned, with bytes, reason and remedy; empty: nothing has failed.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] std::uint64_t busy_ns() const noexcept { return busy_ns_; }

 private:
  const Ring* ring_;
  Device* device_;
  std::vector<std::unique_ptr<Pin>> pins_;
  std::string failure_;
  std::uint64_t busy_ns_ = 0;
};

}  // namespace tailrace
