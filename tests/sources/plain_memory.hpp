#pragma once

#include <memory>
#include <vector>

#include "producer/input.hpp"

namespace tailrace {

/// Memory that starts as rubbish, so that a test sees bytes that were never written.
class PlainMemory : public HostMemory {
 public:
  explicit PlainMemory(std::size_t bytes) : bytes_(bytes, std::byte{0xA5}) {}
  std::span<std::byte> bytes() override { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

class PlainAllocator : public HostAllocator {
 public:
  std::unique_ptr<HostMemory> allocate(std::size_t bytes) override {
    return std::make_unique<PlainMemory>(bytes);
  }
};

}  // namespace tailrace
