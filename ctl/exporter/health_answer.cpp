#include "ctl/exporter/health_answer.hpp"

#include <algorithm>

#include "ctl/json_text.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string>& reasons_of(HealthQuestion question, const Health& health) {
  return question == HealthQuestion::kLive ? health.not_live : health.not_ready;
}

std::string word_of(HealthQuestion question) { return question == HealthQuestion::kLive ? "live" : "ready"; }

std::string line_of(HealthQuestion question, const std::string& name, const Health& health) {
  const auto& reasons = reasons_of(question, health);
  std::string line = name + ": " + (reasons.empty() ? "" : "not ") + word_of(question);
  for (const std::string& reason : reasons) line += (&reason == &reasons.front() ? ": " : "; ") + reason;
  return line + "\n";
}

}  // namespace

HttpResponse answer_health(HealthQuestion question,
                           const std::vector<std::pair<std::string, Health>>& pipelines, bool as_json) {
  const bool is_well = std::all_of(pipelines.begin(), pipelines.end(), [&](const auto& pipeline) {
    return reasons_of(question, pipeline.second).empty();
  });
  HttpResponse response{is_well ? 200 : 503, "text/plain; charset=utf-8", {}};
  if (!as_json) {
    for (const auto& [name, health] : pipelines) response.body += line_of(question, name, health);
    if (pipelines.empty()) response.body = "there is no ring on this machine\n";
    return response;
  }
  Json json{{word_of(question), is_well}, {"pipelines", Json::array()}};
  for (const auto& [name, health] : pipelines) {
    const auto& reasons = reasons_of(question, health);
    json["pipelines"].push_back({{"name", name}, {word_of(question), reasons.empty()}, {"reasons", reasons}});
  }
  response.content_type = "application/json";
  response.body = json_text(json);
  return response;
}

}  // namespace tailrace
