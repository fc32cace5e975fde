#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "ctl/doctor/bottleneck.hpp"
#include "ctl/ring_rates.hpp"

namespace tailrace {

/// What the CPUs of this machine have done since boot, in ticks.
struct CpuTicks {
  std::uint64_t idle = 0;
  std::uint64_t all = 0;
};

/// From /proc/stat. Empty: not readable.
std::optional<CpuTicks> read_cpu_ticks(const std::filesystem::path& proc = "/proc");

/// Share of the CPUs' time; empty: no time between the two.
std::optional<double> cpu_busy(const std::optional<CpuTicks>& earlier, const std::optional<CpuTicks>& later);

PipelineFigures figures_of(const RingReport& ring, const RingRates& rates, std::optional<double> cpu_busy);

/// Why nothing can be said about this pipeline's speed: it is finished, drains, has not begun, or something
/// is wrong with it. Empty: it can be judged.
std::optional<std::string> why_not_judged(const RingReport& ring, const std::optional<RingRates>& rates);

}  // namespace tailrace
