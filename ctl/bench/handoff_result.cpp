#include "ctl/bench/handoff_result.hpp"

#include <vector>

#include "ctl/bench/run_report.hpp"
#include "ctl/bench/text_table.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> row(std::string title, std::vector<std::string> cells,
                             const std::optional<double>& rate = std::nullopt) {
  cells.insert(cells.begin(), std::move(title));
  if (rate) cells.push_back(fixed_text(*rate, 0));
  return cells;
}

HandoffFigures figures_of(const Json& python) {
  const Json& latency = python.at("latency_ns");
  return {{latency.at("p50"), latency.at("p99"), latency.at("p999")}, python.at("handovers_per_s")};
}

std::string queue_table(const HandoffResult& result) {
  std::vector<std::vector<std::string>> rows{
      {"one producer, one consumer", "p50 us", "p99 us", "p99.9 us", "hand-overs/s"},
      row("tailrace, who waits sleeps", cells_of(result.futex.latency), result.futex.handovers_per_s),
      row("tailrace, who waits spins", cells_of(result.spin.latency), result.spin.handovers_per_s)};
  if (result.python_queue) {
    const HandoffFigures python = figures_of(*result.python_queue);
    rows.push_back(row("multiprocessing.Queue", cells_of(python.latency), python.handovers_per_s));
  }
  return text_table(rows);
}

std::string consumers_table(const HandoffResult& result) {
  std::vector<std::vector<std::string>> rows{{"consumers of one group"}, {"hand-overs/s"}};
  for (const auto& [consumers, rate] : result.handovers_per_s) {
    rows[0].push_back(std::to_string(consumers));
    rows[1].push_back(fixed_text(rate, 0));
  }
  return text_table(rows);
}

std::string scan_table(const HandoffResult& result) {
  std::vector<std::vector<std::string>> rows{{"slots"}, {"a look at all of them, ns"}};
  for (const auto& [slots, scan_ns] : result.lease_scan_ns) {
    rows[0].push_back(std::to_string(slots));
    rows[1].push_back(fixed_text(scan_ns, 0));
  }
  return text_table(rows);
}

std::string path_table(const PathFigures& blocking, const PathFigures& spinning) {
  return "from the device to a consumer, 4 KiB a batch, on " + device_text(blocking.device) +
         (blocking.device.starts_with("cuda") ? "" : "; a copy thread stands in for the GPU") + "\n" +
         text_table({{"", "p50 us", "p99 us", "p99.9 us"},
                     row("copy submitted to lease, all sleep", cells_of(blocking.submit_to_lease)),
                     row("copy submitted to lease, all spin", cells_of(spinning.submit_to_lease)),
                     row("copy noticed to lease, all sleep", cells_of(blocking.noticed_to_lease)),
                     row("copy noticed to lease, all spin", cells_of(spinning.noticed_to_lease))});
}

Json to_json(const HandoffFigures& figures) {
  return {{"latency_ns", to_json(figures.latency)}, {"handovers_per_s", figures.handovers_per_s}};
}

Json to_json(const PathFigures& figures) {
  return {{"submit_to_lease_ns", to_json(figures.submit_to_lease)},
          {"noticed_to_lease_ns", to_json(figures.noticed_to_lease)}};
}

}  // namespace

std::string handoff_text(const HandoffResult& result) {
  std::string text = queue_table(result) + "\n" + consumers_table(result) + "\n" + scan_table(result);
  if (result.path_blocking && result.path_spinning)
    text += "\n" + path_table(*result.path_blocking, *result.path_spinning);
  return text;
}

Json handoff_json(const HandoffResult& result) {
  Json json = to_json(result.futex);
  json["spin"] = to_json(result.spin);
  json["consumers"] = Json::array();
  for (const auto& [consumers, rate] : result.handovers_per_s)
    json["consumers"].push_back({{"consumers", consumers}, {"handovers_per_s", rate}});
  json["lease_scan_ns"] = Json::object();
  for (const auto& [slots, scan_ns] : result.lease_scan_ns)
    json["lease_scan_ns"][std::to_string(slots)] = scan_ns;
  json["path"] = nullptr;
  if (result.path_blocking && result.path_spinning)
    json["path"] = {{"device", result.path_blocking->device},
                    {"blocking", to_json(*result.path_blocking)},
                    {"spinning", to_json(*result.path_spinning)}};
  json["python_queue"] = result.python_queue.value_or(nullptr);
  return json;
}

}  // namespace tailrace
