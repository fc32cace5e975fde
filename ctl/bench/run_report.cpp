#include "ctl/bench/run_report.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

RunReport from_json(const Json& json) {
  RunReport report;
  json.at("strategy").get_to(report.strategy);
  json.at("device").get_to(report.device);
  json.at("precision").get_to(report.precision);
  json.at("model").get_to(report.model);
  json.at("batch_size").get_to(report.batch_size);
  json.at("steps").get_to(report.steps);
  json.at("bytes").get_to(report.bytes);
  json.at("wall_s").get_to(report.wall_s);
  json.at("steps_per_s").get_to(report.steps_per_s);
  json.at("bytes_per_s").get_to(report.bytes_per_s);
  json.at("gpu_busy").get_to(report.gpu_busy);
  json.at("link_bytes_per_s").get_to(report.link_bytes_per_s);
  report.json = json;
  return report;
}

}  // namespace

RunReport parse_run_report(const std::string& text, const std::string& name) {
  try {
    return from_json(Json::parse(text));
  } catch (const Json::exception& error) {
    throw std::runtime_error(name + " is no throughput report: " + error.what());
  }
}

RunReport read_run_report(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream || text.str().empty())
    throw std::runtime_error("the producer wrote no throughput report to " + file.string());
  return parse_run_report(text.str(), file.string());
}

const RunReport& median_run(const std::vector<RunReport>& reports) {
  std::vector<const RunReport*> sorted;
  sorted.reserve(reports.size());
  for (const RunReport& report : reports) sorted.push_back(&report);
  std::sort(sorted.begin(), sorted.end(), [](const RunReport* left, const RunReport* right) {
    return left->steps_per_s < right->steps_per_s;
  });
  return *sorted[(sorted.size() - 1) / 2];
}

std::string device_text(const std::string& device) { return device.starts_with("cpu") ? "the CPU" : device; }

std::string describe(const RunReport& report) {
  return report.model + " (" + report.precision + "), " + std::to_string(report.batch_size) +
         " items a batch, on " + device_text(report.device);
}

}  // namespace tailrace
