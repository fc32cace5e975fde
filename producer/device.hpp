#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "config/config.hpp"
#include "producer/compute_clock.hpp"
#include "producer/copier.hpp"
#include "producer/input.hpp"
#include "producer/uploader.hpp"

struct CUstream_st;  // what a cudaStream_t points to

namespace tailrace {

/// Keeps host memory pinned for as long as it lives: the device copies to it at full speed, beside the host's
/// work.
class Pin {
 public:
  Pin() = default;
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  virtual ~Pin() = default;
};

/// Marks steps that a profiler is to record, for as long as it lives. Without one it does nothing.
class Capture {
 public:
  Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  virtual ~Capture() = default;
};

/// What copies out of the device reach; 0 = not measured.
struct LinkFigures {
  double plain_bytes_per_s = 0;  // into host memory that the runtime itself has pinned: the limit
  double ring_bytes_per_s = 0;   // into the memory that was asked about
  double overlap = 0;            // share of such a copy's time during which the device also computed; 1 = all
};

/// Where the model runs, as far as moving bytes is concerned. No LibTorch behind it.
class Device : public HostAllocator {
 public:
  /// "cpu", "cuda:0 (NVIDIA H200)".
  [[nodiscard]] virtual std::string description() const = 0;
  [[nodiscard]] virtual bool is_cuda() const = 0;
  [[nodiscard]] virtual int index() const = 0;
  /// The NUMA node that the device is nearest to; -1 = unknown, or none is.
  [[nodiscard]] virtual int numa_node() const { return -1; }

  /// Copies `bytes` from device memory at `source`, after all work that the model enqueued so far, and
  /// returns when they have arrived. Throws CudaError. Called by the thread that runs the model.
  virtual void copy_to_host(std::span<std::byte> destination, const void* source) = 0;

  /// Pins memory that somebody else owns and keeps mapped; on the CPU there is nothing to do. Throws
  /// CannotPin, and leaves no error behind in the runtime.
  virtual std::unique_ptr<Pin> pin(std::span<std::byte> memory) = 0;

  /// Copies out of this device on `lane_count` lanes. The device outlives it.
  virtual std::unique_ptr<Copier> make_copier(CopyStream stream, std::size_t lane_count) = 0;

  /// Input on its way in, on `lane_count` lanes of `lane_bytes` each. The device outlives it.
  virtual std::unique_ptr<Uploader> make_uploader(std::size_t lane_bytes, std::size_t lane_count) = 0;

  virtual std::unique_ptr<ComputeClock> make_compute_clock() = 0;

  /// Begins a capture. Throws CudaError.
  virtual std::unique_ptr<Capture> make_capture() { return std::make_unique<Capture>(); }

  /// Measures copies out of the device for some tenths of a second; overwrites `target`. Empty: there is no
  /// link, the device is the CPU. Throws CudaError.
  virtual std::optional<LinkFigures> measure_link(std::span<std::byte> target) = 0;

  /// The stream (a cudaStream_t) that the model enqueues its work on; null on the CPU. Lives as long as the
  /// device, so a model must end before its device.
  [[nodiscard]] virtual CUstream_st* compute_stream() const { return nullptr; }
};

/// The device that `config` names; kAuto takes the first CUDA device if one can be used and the CPU
/// otherwise, and description() says why. Throws NoSuchDevice with what is there, CudaError when the device
/// is broken.
std::unique_ptr<Device> make_device(const DeviceConfig& config);

}  // namespace tailrace
