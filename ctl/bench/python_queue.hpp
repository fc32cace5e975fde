#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ctl/bench/child_signals.hpp"

namespace tailrace {

/// What Python's multiprocessing.Queue takes for the same: {"latency_ns", "handovers_per_s"}. Empty, with the
/// reason in `why_not`: there is no python3, or its script is not there or fails. Throws BenchError when
/// interrupted.
std::optional<nlohmann::ordered_json> measure_python_queue(const ChildSignals& signals, std::string& why_not);

}  // namespace tailrace
