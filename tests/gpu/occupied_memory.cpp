#include "tests/gpu/occupied_memory.hpp"

#include "producer/cuda/cuda_check.hpp"
#include "producer/errors.hpp"

namespace tailrace {
namespace {

// The driver gives memory in pieces of 2 MiB; what is free need not be in one piece.
constexpr std::size_t kLargestBlock = std::size_t{16} << 30;
constexpr std::size_t kSmallestBlock = std::size_t{2} << 20;

std::unique_ptr<DeviceMemory> try_take(std::size_t bytes) {
  try {
    return std::make_unique<DeviceMemory>(bytes);
  } catch (const OutOfDeviceMemory&) {
    return nullptr;
  }
}

}  // namespace

std::size_t OccupiedMemory::free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cannot ask the GPU for its free memory");
  return free;
}

OccupiedMemory::OccupiedMemory(std::size_t spare_bytes) {
  for (std::size_t bytes = kLargestBlock; bytes >= kSmallestBlock; bytes /= 2)
    while (free_bytes() >= spare_bytes + bytes) {
      auto block = try_take(bytes);
      if (!block) break;
      blocks_.push_back(std::move(block));
    }
}

}  // namespace tailrace
