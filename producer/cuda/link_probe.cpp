#include "producer/cuda/link_probe.hpp"

#include <algorithm>
#include <chrono>
#include <functional>

#include "producer/cuda/cuda_check.hpp"
#include "producer/cuda/device_memory.hpp"
#include "producer/cuda/event.hpp"
#include "producer/cuda/pinned_memory.hpp"

namespace tailrace {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kMaxProbeBytes = std::size_t{256} << 20;
constexpr int kRounds = 5;

/// Copies on an egress stream, and work for the compute stream, each of a known duration.
class Probe {
 public:
  Probe(CudaStreamView compute, std::size_t bytes) : compute_(compute), bytes_(bytes), source_(bytes) {}

  nanoseconds time_copy(std::byte* target) {
    return timed(egress_.view(), [&] { copy(target); });
  }

  /// One pass over the device memory: far shorter than a copy over the link.
  nanoseconds time_pass() {
    return timed(compute_, [&] { passes(1); });
  }

  /// From the beginning of both to the end of the later one, with `count` passes beside the copy.
  nanoseconds time_both(std::byte* target, int count) {
    return timed(egress_.view(), [&] {
      begun_.hold_back(compute_);
      passes(count);
      passed_.record(compute_);
      copy(target);
      passed_.hold_back(egress_.view());
    });
  }

 private:
  nanoseconds timed(CudaStreamView stream, const std::function<void()>& enqueue) {
    begun_.record(stream);
    enqueue();
    ended_.record(stream);
    ended_.synchronize();
    return ended_.since(begun_);
  }
  void copy(std::byte* target) {
    check(cudaMemcpyAsync(target, source_.data(), bytes_, cudaMemcpyDeviceToHost, egress_.view().handle()),
          "cannot copy from the GPU");
  }
  void passes(int count) {
    for (int i = 0; i < count; ++i)
      check(cudaMemsetAsync(source_.data(), 0, bytes_, compute_.handle()), "cannot write memory of the GPU");
  }

  CudaStreamView compute_;
  std::size_t bytes_;
  DeviceMemory source_;
  CudaEvent begun_{CudaEvent::Timing::kOn};
  CudaEvent ended_{CudaEvent::Timing::kOn};
  CudaEvent passed_;
  CudaStream egress_;
};

template <typename Measure>
nanoseconds best_of(Measure measure) {
  nanoseconds best = nanoseconds::max();
  for (int i = 0; i < kRounds; ++i) best = std::min(best, measure());
  return best;
}

double rate(std::size_t bytes, nanoseconds time) {
  return static_cast<double>(bytes) * 1e9 / static_cast<double>(std::max<std::int64_t>(time.count(), 1));
}

}  // namespace

LinkFigures measure_cuda_link(CudaStreamView compute, std::span<std::byte> target) {
  LinkFigures figures;
  const std::size_t plain_bytes = kMaxProbeBytes;
  const PinnedMemory plain(plain_bytes);
  Probe limit(compute, plain_bytes);
  figures.plain_bytes_per_s = rate(plain_bytes, best_of([&] { return limit.time_copy(plain.data()); }));
  const std::size_t bytes = std::min(target.size(), kMaxProbeBytes);
  if (bytes == 0) return figures;
  Probe probe(compute, bytes);
  const nanoseconds copy = best_of([&] { return probe.time_copy(target.data()); });
  const nanoseconds pass = best_of([&] { return probe.time_pass(); });
  // As much work as the copy takes: side by side both take as long as one, one after the other twice as long.
  const auto count =
      static_cast<int>(std::clamp<std::int64_t>(copy / std::max(pass, nanoseconds(1)), 1, 1000));
  const nanoseconds work = pass * count;
  const nanoseconds both = best_of([&] { return probe.time_both(target.data(), count); });
  figures.ring_bytes_per_s = rate(bytes, copy);
  const nanoseconds shorter = std::min(copy, work);
  figures.overlap = std::clamp(static_cast<double>((copy + work - both).count()) /
                                   static_cast<double>(std::max<std::int64_t>(shorter.count(), 1)),
                               0.0, 1.0);
  return figures;
}

}  // namespace tailrace
