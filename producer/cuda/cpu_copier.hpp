#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "producer/copier.hpp"

namespace tailrace {

/// The CPU's stand-in for DMA: one thread that copies lane after lane.
class CpuCopier final : public Copier {
 public:
  explicit CpuCopier(std::size_t lane_count);
  ~CpuCopier() override;  // ends what was submitted first

  void submit(std::size_t lane, std::span<const DeviceCopy> copies) override;
  bool has_ended(std::size_t lane) override;
  void wait(std::size_t lane) override;
  [[nodiscard]] std::chrono::nanoseconds took(std::size_t lane) override;

 private:
  struct Job {
    std::size_t lane = 0;
    std::vector<DeviceCopy> copies;
  };

  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::vector<bool> busy_;                                  // by lane
  std::vector<std::deque<std::chrono::nanoseconds>> took_;  // by lane, not asked for yet
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace tailrace
