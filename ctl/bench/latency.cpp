#include "ctl/bench/latency.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "ctl/bench/text_table.hpp"

namespace tailrace {
namespace {

std::uint64_t at_share(std::span<const std::uint64_t> sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::string microseconds(std::uint64_t ns) { return fixed_text(static_cast<double>(ns) / 1e3, 2); }

}  // namespace

LatencyFigures latency_figures(std::span<std::uint64_t> latencies_ns) {
  if (latencies_ns.empty()) throw std::invalid_argument("no latencies to tell figures of");
  std::sort(latencies_ns.begin(), latencies_ns.end());
  return {at_share(latencies_ns, 0.5), at_share(latencies_ns, 0.99), at_share(latencies_ns, 0.999)};
}

nlohmann::ordered_json to_json(const LatencyFigures& figures) {
  return {{"p50", figures.p50_ns}, {"p99", figures.p99_ns}, {"p999", figures.p999_ns}};
}

std::vector<std::string> cells_of(const LatencyFigures& figures) {
  return {microseconds(figures.p50_ns), microseconds(figures.p99_ns), microseconds(figures.p999_ns)};
}

}  // namespace tailrace
