// What the machine itself takes, so that the figures of `tailrace bench handoff` can be judged: handoff_floor
// [ROUNDS]
//
// Prints, over all rounds, microseconds
//   for a cache line from one thread to another and back (a hand-over takes several such ways);
//   on a GPU, from the submission of a plain copy of 4 KiB into pinned memory to the moment at which a thread
//   that looks all the time sees its end: by a word that the stream sets (as egress.spin does), and by the
//   copy's event.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "os/clock.hpp"
#include "producer/cuda/cuda_check.hpp"
#include "producer/cuda/device_memory.hpp"
#include "producer/cuda/event.hpp"
#include "producer/cuda/pinned_memory.hpp"
#include "producer/cuda/stream.hpp"
#include "producer/cuda/stream_marks.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kCopyBytes = 4096;

void print_times(const char* what, std::size_t rounds, const std::function<void(std::size_t)>& round) {
  std::vector<std::uint64_t> times(rounds);
  for (std::size_t i = 0; i < rounds; ++i) {
    const std::uint64_t start = monotonic_ns();
    round(i);
    times[i] = monotonic_ns() - start;
  }
  std::sort(times.begin(), times.end());
  std::printf("%-56s p50 %7.2f us  p99 %7.2f us\n", what, static_cast<double>(times[rounds / 2]) / 1e3,
              static_cast<double>(times[rounds * 99 / 100]) / 1e3);
}

void measure_cache_line(std::size_t rounds) {
  alignas(64) std::atomic<std::uint64_t> ping{0};
  alignas(64) std::atomic<std::uint64_t> pong{0};
  std::thread other([&] {
    for (std::uint64_t i = 1; i <= rounds; ++i) {
      while (ping.load(std::memory_order_acquire) != i) {
      }
      pong.store(i, std::memory_order_release);
    }
  });
  print_times("a cache line there and back", rounds, [&](std::size_t i) {
    ping.store(i + 1, std::memory_order_release);
    while (pong.load(std::memory_order_acquire) != i + 1) {
    }
  });
  other.join();
}

void measure_copy(std::size_t rounds) {
  const DeviceMemory source(kCopyBytes);
  const PinnedMemory target(kCopyBytes);
  const CudaStream stream;
  StreamMarks marks(1);
  const auto submit = [&] {
    check(cudaMemcpyAsync(target.data(), source.data(), kCopyBytes, cudaMemcpyDeviceToHost,
                          stream.view().handle()),
          "cannot copy");
  };
  if (marks.are_set())
    print_times("4 KiB submitted, its end seen in a word of the stream", rounds, [&](std::size_t) {
      submit();
      marks.record(0, stream.view());
      while (!marks.is_reached(0)) {
      }
    });
  CudaEvent event;
  print_times("4 KiB submitted, its end seen by asking the event", rounds, [&](std::size_t) {
    submit();
    event.record(stream.view());
    while (!event.has_ended()) {
    }
  });
}

}  // namespace
}  // namespace tailrace

int main(int argc, char** argv) {
  std::size_t rounds = 20000;
  if (argc > 1) {
    const char* end = argv[1] + std::strlen(argv[1]);
    if (std::from_chars(argv[1], end, rounds).ptr != end || rounds == 0) {
      std::fprintf(stderr, "usage: handoff_floor [ROUNDS]\n");
      return 2;
    }
  }
  tailrace::measure_cache_line(rounds);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    std::printf("no GPU: no copy was measured\n");
  else
    tailrace::measure_copy(rounds);
}
