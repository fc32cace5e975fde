#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "systemd/process_name.hpp"

namespace tailrace {

/// The settings of a running process that may change without a restart, and how they do: read again from the
/// configuration file, by SIGHUP or before a new job. Values: any thread.
class LiveConfig {
 public:
  using Load = std::function<LoadedConfig()>;

  /// `first`: what the process was started with. `load` reads the same file with the same overrides.
  LiveConfig(const LoadedConfig& first, Load load, const ProcessName& name);

  /// Reads the configuration again. What can change takes effect; what needs a restart is named in the log
  /// and stays as it was. A faulty configuration changes nothing; its faults are logged. Any thread. Does not
  /// throw.
  void reload() noexcept;

  [[nodiscard]] std::chrono::nanoseconds ring_spin() const noexcept { return read(ring_spin_ns_); }
  [[nodiscard]] std::chrono::nanoseconds egress_spin() const noexcept { return read(egress_spin_ns_); }
  /// Of a consumer's group.
  [[nodiscard]] std::chrono::nanoseconds progress_limit() const noexcept { return read(progress_limit_ns_); }

 private:
  static std::chrono::nanoseconds read(const std::atomic<std::int64_t>& value) noexcept {
    return std::chrono::nanoseconds(value.load(std::memory_order_relaxed));
  }
  void apply(const Config& config);
  void compare(const LoadedConfig& now);

  Load load_;
  ProcessName name_;
  std::mutex mutex_;                    // held by who reads the file: the later reading counts
  std::vector<EffectiveValue> values_;  // that are in effect
  std::atomic<std::int64_t> ring_spin_ns_{0};
  std::atomic<std::int64_t> egress_spin_ns_{0};
  std::atomic<std::int64_t> progress_limit_ns_{0};
};

/// What a changed key means for a running process.
enum class KeyEffect {
  kLive,
  kRestart,
  kNone,  // it is other processes' concern
};

/// `key`: as EffectiveValue has it.
KeyEffect effect_of(const std::string& key, const ProcessName& name);

}  // namespace tailrace
