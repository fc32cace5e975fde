#include "ctl/bench/ladder_result.hpp"

#include <algorithm>

#include "ctl/bench/text_table.hpp"

namespace tailrace {
namespace {

double speedup(const LadderRung& rung, const std::vector<LadderRung>& rungs) {
  const double first = rungs.front().median().steps_per_s;
  return first > 0 ? rung.median().steps_per_s / first : 0;
}

std::string percent(double share) { return fixed_text(100 * share, 1) + " %"; }

const char* busy_title(const RunReport& report) { return report.on_gpu() ? "GPU busy" : "model busy"; }

std::string spread(const LadderRung& rung) {
  const auto slower = [](const RunReport& left, const RunReport& right) {
    return left.steps_per_s < right.steps_per_s;
  };
  const auto [least, most] = std::minmax_element(rung.runs.begin(), rung.runs.end(), slower);
  return fixed_text(least->steps_per_s, 2) + "-" + fixed_text(most->steps_per_s, 2);
}

}  // namespace

std::string ladder_text(const std::vector<LadderRung>& rungs) {
  const RunReport& first = rungs.front().median();
  const bool repeated = rungs.front().runs.size() > 1;
  std::vector<std::vector<std::string>> rows{
      {"strategy", "steps/s", "GB/s", busy_title(first), "of the link", "speed-up"}};
  if (repeated) rows.front().emplace_back("slowest-fastest");
  for (const LadderRung& rung : rungs) {
    const RunReport& report = rung.median();
    rows.push_back({rung.strategy, fixed_text(report.steps_per_s, 2), fixed_text(report.bytes_per_s / 1e9, 2),
                    percent(report.gpu_busy),
                    report.link_bytes_per_s > 0 ? percent(report.link_share()) : "-",
                    fixed_text(speedup(rung, rungs), 2)});
    if (repeated) rows.back().push_back(spread(rung));
  }
  return describe(first) + "; " + std::to_string(first.steps) + " steps a run" +
         (repeated ? ", median of " + std::to_string(rungs.front().runs.size()) : "") + "\n\n" +
         text_table(rows);
}

nlohmann::ordered_json ladder_json(const std::vector<LadderRung>& rungs) {
  const RunReport& first = rungs.front().median();
  nlohmann::ordered_json json{{"device", first.device},
                              {"model", first.model},
                              {"precision", first.precision},
                              {"batch_size", first.batch_size},
                              {"strategies", nlohmann::ordered_json::array()}};
  for (const LadderRung& rung : rungs) {
    const RunReport& report = rung.median();
    nlohmann::ordered_json runs = nlohmann::ordered_json::array();
    for (const RunReport& run : rung.runs) runs.push_back(run.json);
    json["strategies"].push_back({{"strategy", rung.strategy},
                                  {"steps_per_s", report.steps_per_s},
                                  {"bytes_per_s", report.bytes_per_s},
                                  {"gpu_busy", report.gpu_busy},
                                  {"link_share", report.link_share()},
                                  {"speedup", speedup(rung, rungs)},
                                  {"runs", std::move(runs)}});
  }
  return json;
}

BarChart ladder_chart(const std::vector<LadderRung>& rungs) {
  const RunReport& first = rungs.front().median();
  BarChart chart{
      describe(first), {}, {"steps/s", 2, 0, {}}, {std::string(busy_title(first)) + ", %", 1, 110, {}}};
  for (const LadderRung& rung : rungs) {
    chart.labels.push_back(rung.strategy);
    chart.left.values.push_back(rung.median().steps_per_s);
    chart.right.values.push_back(100 * rung.median().gpu_busy);
  }
  return chart;
}

}  // namespace tailrace
