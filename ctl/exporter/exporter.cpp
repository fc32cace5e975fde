#include "ctl/exporter/exporter.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "ctl/exporter/health_answer.hpp"
#include "ctl/exporter/ring_metrics.hpp"
#include "ctl/ring_looks.hpp"
#include "os/clock.hpp"

namespace tailrace {
namespace {

constexpr const char* kText = "text/plain; charset=utf-8";
constexpr const char* kIndex =
    "tailrace exporter\n"
    "/metrics          of all pipelines of this machine, for Prometheus\n"
    "/livez, /readyz   of all pipelines; /livez/NAME of one; ?format=json\n";

std::string value_of(const HttpRequest& request, const std::string& key) {
  const auto found = request.query.find(key);
  return found == request.query.end() ? std::string() : found->second;
}

// The NAME of "/livez/NAME" or "/livez?pipeline=NAME"; "" for "/livez"; empty: another path.
std::optional<std::string> pipeline_of(const HttpRequest& request, std::string_view path) {
  if (request.path == path) return value_of(request, "pipeline");
  if (!request.path.starts_with(path) || !std::string_view(request.path).substr(path.size()).starts_with('/'))
    return std::nullopt;
  return request.path.substr(path.size() + 1);
}

HttpResponse not_found(const std::string& why) { return {404, kText, why + "\n"}; }

HttpResponse health(HealthQuestion question, const std::string& name, const HttpRequest& request) {
  if (!name.empty() && !is_valid_name(name))
    return not_found("a pipeline's name has 1 to 64 of A-Z a-z 0-9 _ -");
  const auto names = name.empty() ? std::vector<std::string>{} : std::vector{name};
  std::vector<std::pair<std::string, Health>> pipelines;
  for (const RingReport& ring : look_at_rings(names)) pipelines.emplace_back(ring.name, judge(ring));
  if (!name.empty() && pipelines.empty()) return not_found("there is no ring of pipeline '" + name + "'");
  const bool as_json =
      value_of(request, "format") == "json" || request.accept.find("application/json") != std::string::npos;
  return answer_health(question, pipelines, as_json);
}

}  // namespace

HttpResponse Exporter::answer(const HttpRequest& request) const {
  if (request.path == "/metrics") return metrics();
  if (const auto name = pipeline_of(request, "/livez")) return health(HealthQuestion::kLive, *name, request);
  if (const auto name = pipeline_of(request, "/readyz"))
    return health(HealthQuestion::kReady, *name, request);
  if (request.path == "/") return {200, kText, kIndex};
  return not_found("there are /metrics, /livez and /readyz");
}

HttpResponse Exporter::metrics() const {
  MetricFamilies families;
  families.add(Metric::kBuildInfo, {{"version", version_}, {"layout", std::to_string(kLayoutVersion)}}, 1);
  for (const RingReport& ring : look_at_rings({})) add_ring(ring, judge(ring), meter_.busy(ring), families);
  return {200, "text/plain; version=0.0.4; charset=utf-8", families.text()};
}

void Exporter::watch() {
  for (const RingReport& ring : look_at_rings({})) meter_.add(ring);
  meter_.forget_gone(monotonic_ns());
}

}  // namespace tailrace
