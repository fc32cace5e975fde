#include "producer/cuda/cpu_copier.hpp"

#include <cstring>
#include <utility>

#include "os/failpoint.hpp"

namespace tailrace {
namespace {

void copy_all(const std::vector<DeviceCopy>& copies) {
  failpoint("mid_transfer");
  for (const DeviceCopy& copy : copies)
    if (!copy.destination.empty()) std::memcpy(copy.destination.data(), copy.source, copy.destination.size());
}

}  // namespace

CpuCopier::CpuCopier(std::size_t lane_count)
    : busy_(lane_count, false), took_(lane_count), thread_([this] { run(); }) {}

CpuCopier::~CpuCopier() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CpuCopier::submit(std::size_t lane, std::span<const DeviceCopy> copies) {
  {
    const std::lock_guard lock(mutex_);
    busy_[lane] = true;
    jobs_.push_back({lane, {copies.begin(), copies.end()}});
  }
  changed_.notify_all();
}

bool CpuCopier::has_ended(std::size_t lane) {
  const std::lock_guard lock(mutex_);
  return !busy_[lane];
}

void CpuCopier::wait(std::size_t lane) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !busy_[lane]; });
}

std::chrono::nanoseconds CpuCopier::took(std::size_t lane) {
  const std::lock_guard lock(mutex_);
  const std::chrono::nanoseconds time = took_[lane].front();
  took_[lane].pop_front();
  return time;
}

void CpuCopier::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return quit_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    const auto begun = std::chrono::steady_clock::now();
    copy_all(job.copies);
    const auto ended = std::chrono::steady_clock::now();
    lock.lock();
    took_[job.lane].push_back(ended - begun);
    busy_[job.lane] = false;
    changed_.notify_all();
  }
}

}  // namespace tailrace
