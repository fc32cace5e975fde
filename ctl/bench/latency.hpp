#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace tailrace {

/// What is told of many latencies: half of them, 99 % and 99.9 % are at most this long.
struct LatencyFigures {
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;
  std::uint64_t p999_ns = 0;
};

/// By nearest rank: each figure is a latency that occurred. Reorders them. Throws std::invalid_argument for
/// none.
LatencyFigures latency_figures(std::span<std::uint64_t> latencies_ns);

/// {"p50", "p99", "p999"}
nlohmann::ordered_json to_json(const LatencyFigures& figures);

/// The three as cells of a table, in microseconds.
std::vector<std::string> cells_of(const LatencyFigures& figures);

}  // namespace tailrace
