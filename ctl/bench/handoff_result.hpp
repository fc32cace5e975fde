#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ctl/bench/latency.hpp"
#include "ctl/bench/path_handoff.hpp"

namespace tailrace {

/// Hand-over from one producer to one consumer.
struct HandoffFigures {
  LatencyFigures latency;
  double handovers_per_s = 0;
};

struct HandoffResult {
  HandoffFigures futex;  // who waits sleeps: what a pipeline does unless ring.spin is set
  HandoffFigures spin;
  std::map<std::uint32_t, double> handovers_per_s;  // by consumers of one group; who waits sleeps
  std::map<std::uint32_t, double> lease_scan_ns;    // by slots
  std::optional<PathFigures> path_blocking;         // both or none
  std::optional<PathFigures> path_spinning;
  std::optional<nlohmann::ordered_json> python_queue;  // as its script says it
};

std::string handoff_text(const HandoffResult& result);

/// Keys: bench/README.md.
nlohmann::ordered_json handoff_json(const HandoffResult& result);

}  // namespace tailrace
