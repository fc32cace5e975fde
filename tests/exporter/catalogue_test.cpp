#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "ctl/exporter/metric.hpp"

namespace tailrace {
namespace {

using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;

std::set<std::string> exported() {
  std::set<std::string> names;
  for (const MetricInfo& metric : kMetrics) names.emplace(metric.name);
  return names;
}

std::string content_of(const std::string& file) {
  std::ifstream stream(TAILRACE_SOURCE_DIR "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Metrics that the text speaks of; a histogram's series count as the histogram.
std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex kName("\\btailrace_[a-z_]*[a-z]");
  static const std::regex kSeries("^(tailrace_stage_seconds)_(bucket|sum|count)$");
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), kName); at != std::sregex_iterator(); ++at)
    names.insert(std::regex_replace(at->str(), kSeries, "$1"));
  return names;
}

TEST(Catalogue, FollowsTheNamingRulesOfPrometheus) {
  for (const MetricInfo& metric : kMetrics) {
    EXPECT_EQ(metric.kind == MetricKind::kCounter, metric.name.ends_with("_total")) << metric.name;
    EXPECT_FALSE(metric.help.empty()) << metric.name;
  }
  EXPECT_EQ(exported().size(), kMetricCount) << "a name twice";
}

TEST(Catalogue, IsWhatTheDocumentationLists) {
  EXPECT_EQ(metrics_in(content_of("docs/metrics.md")), exported());
}

TEST(Catalogue, HasWhatTheAlertRulesUse) {
  const auto used = metrics_in(content_of("monitoring/alerts.yml"));
  EXPECT_THAT(used, Not(IsEmpty()));
  EXPECT_THAT(used, IsSubsetOf(exported()));
}

TEST(Catalogue, HasWhatTheDashboardUses) {
  const auto board = nlohmann::json::parse(content_of("monitoring/dashboard.json"));
  std::set<int> ids;
  for (const auto& panel : board["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["title"];
    if (panel["type"] == "row") continue;
    EXPECT_EQ(panel["datasource"]["uid"], "${datasource}") << panel["title"];
    EXPECT_FALSE(panel["description"].get<std::string>().empty()) << panel["title"];
    for (const auto& target : panel["targets"]) {
      const auto used = metrics_in(target["expr"].get<std::string>());
      EXPECT_THAT(used, Not(IsEmpty())) << target;
      EXPECT_THAT(used, IsSubsetOf(exported()));
    }
  }
  EXPECT_GT(ids.size(), 15U);
}

}  // namespace
}  // namespace tailrace
