#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "ctl/bench/bar_chart.hpp"
#include "ctl/bench/handoff_result.hpp"
#include "ctl/bench/ladder_result.hpp"
#include "ctl/bench/latency.hpp"
#include "ctl/bench/run_report.hpp"
#include "ctl/bench/text_table.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

RunReport report_with(double steps_per_s, double link_bytes_per_s = 0) {
  RunReport report;
  report.device = link_bytes_per_s > 0 ? "cuda:0 (a GPU)" : "cpu";
  report.model = "net";
  report.precision = "tf32";
  report.batch_size = 64;
  report.steps = 30;
  report.bytes = 30'000'000'000;
  report.steps_per_s = steps_per_s;
  report.bytes_per_s = steps_per_s * 1e9;
  report.gpu_busy = 0.5;
  report.link_bytes_per_s = link_bytes_per_s;
  report.json = {{"steps_per_s", steps_per_s}};
  return report;
}

TEST(LatencyFigures, AreLatenciesThatOccurred) {
  std::vector<std::uint64_t> latencies(1000);
  std::iota(latencies.rbegin(), latencies.rend(), 1);
  const LatencyFigures figures = latency_figures(latencies);
  EXPECT_EQ(figures.p50_ns, 500U);
  EXPECT_EQ(figures.p99_ns, 990U);
  EXPECT_EQ(figures.p999_ns, 999U);
}

TEST(LatencyFigures, OfOneLatencyAreThatOne) {
  std::vector<std::uint64_t> latencies{7};
  EXPECT_EQ(to_json(latency_figures(latencies)).dump(), R"({"p50":7,"p99":7,"p999":7})");
}

TEST(LatencyFigures, OfNoneAreRefused) {
  EXPECT_THROW(static_cast<void>(latency_figures({})), std::invalid_argument);
}

TEST(TextTable, AlignsTheFirstColumnToTheLeftAndTheOthersToTheRight) {
  EXPECT_EQ(text_table({{"strategy", "GB/s"}, {"pool", "1.25"}, {"streams", "12.50"}}),
            "strategy   GB/s\n"
            "pool       1.25\n"
            "streams   12.50\n");
}

TEST(RunReportText, IsReadAndKeptWhole) {
  const RunReport report = parse_run_report(
      R"json({"strategy":"pool","device":"cuda:0 (H)","precision":"bf16","model":"m","batch_size":2,"steps":4,
          "bytes":800,"wall_s":2.0,"steps_per_s":2.0,"bytes_per_s":400,"gpu_busy":0.25,"link_bytes_per_s":1600,
          "numa_node":1})json",
      "report.json");
  EXPECT_TRUE(report.on_gpu());
  EXPECT_EQ(report.batch_bytes(), 200U);
  EXPECT_DOUBLE_EQ(report.link_share(), 0.25);
  EXPECT_EQ(report.json.at("numa_node"), 1);
}

TEST(RunReportText, IsDescribedWithoutTheReasonWhyThereIsNoGpu) {
  RunReport report = report_with(1);
  report.device = "cpu (no CUDA device: the driver is too old)";
  EXPECT_EQ(describe(report), "net (tf32), 64 items a batch, on the CPU");
}

TEST(RunReportText, ThatLacksAFigureIsRefusedWithItsName) {
  EXPECT_THAT([] { parse_run_report(R"({"strategy":"pool"})", "report.json"); },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("report.json"), HasSubstr("'device'"))));
}

TEST(RunReportText, ThatWasCutShortIsRefused) {
  EXPECT_THROW(parse_run_report(R"({"strategy":"po)", "report.json"), std::runtime_error);
}

TEST(LadderResult, TellsTheMedianOfEachStrategyAndTheSpeedUpAgainstTheFirst) {
  const std::vector<LadderRung> rungs{{"inline", {report_with(3), report_with(1), report_with(2)}},
                                      {"streams", {report_with(5), report_with(4), report_with(9)}}};
  const auto json = ladder_json(rungs);
  EXPECT_EQ(json.at("strategies").at(0).at("steps_per_s"), 2.0);
  EXPECT_EQ(json.at("strategies").at(1).at("speedup"), 2.5);
  EXPECT_EQ(json.at("strategies").at(1).at("runs").size(), 3U);
  EXPECT_THAT(ladder_text(rungs), HasSubstr("median of 3"));
  EXPECT_THAT(ladder_text(rungs), testing::ContainsRegex("streams +5.00 +5.00 +50.0 % +- +2.50 +4.00-9.00"));
}

TEST(LadderResult, SaysOfTwoRunsTheSlower) {
  EXPECT_EQ(median_run({report_with(3), report_with(2)}).steps_per_s, 2);
}

TEST(LadderResult, HasAShareOnlyOfALink) {
  EXPECT_THAT(ladder_text({{"pool", {report_with(5, 50e9)}}}), HasSubstr("10.0 %"));
  EXPECT_THAT(ladder_text({{"pool", {report_with(5, 50e9)}}}), HasSubstr("GPU busy"));
  EXPECT_THAT(ladder_text({{"pool", {report_with(5)}}}), HasSubstr("model busy"));
}

TEST(LadderResult, SurvivesRunsThatGotNowhere) {
  EXPECT_EQ(ladder_json({{"pool", {report_with(0)}}}).at("strategies").at(0).at("speedup"), 0);
}

TEST(BarChart, DrawsEveryLabelWithItsTwoValues) {
  const std::string script =
      gnuplot_script(ladder_chart({{"inline", {report_with(2)}}, {"pool", {report_with(3)}}}));
  EXPECT_THAT(script, HasSubstr("\"inline\" 2 50\n\"pool\" 3 50\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("set yrange [0:110"));
}

TEST(BarChart, TakesNoCommandsFromTitles) {
  const BarChart chart{"a \"quoted\"\nsystem('x') \\", {"b"}, {"c", 1, 0, {1}}, {"d", 1, 0, {1}}};
  EXPECT_THAT(gnuplot_script(chart), HasSubstr(R"(title "a \"quoted\" system('x') \\")"));
}

HandoffResult handoff_result() {
  HandoffResult result;
  result.futex = {{2000, 5000, 9000}, 1e6};
  result.spin = {{300, 500, 900}, 3e6};
  result.handovers_per_s = {{1, 1e6}, {2, 9e5}};
  result.lease_scan_ns = {{64, 40}};
  return result;
}

TEST(HandoffResult, HasTheKeysThatAreDocumented) {
  const auto json = handoff_json(handoff_result());
  EXPECT_EQ(json.at("latency_ns").dump(), R"({"p50":2000,"p99":5000,"p999":9000})");
  EXPECT_EQ(json.at("handovers_per_s"), 1e6);
  EXPECT_EQ(json.at("spin").at("latency_ns").at("p999"), 900);
  EXPECT_EQ(json.at("consumers").at(1).dump(), R"({"consumers":2,"handovers_per_s":900000.0})");
  EXPECT_EQ(json.at("lease_scan_ns").at("64"), 40.0);
  EXPECT_TRUE(json.at("path").is_null());
  EXPECT_TRUE(json.at("python_queue").is_null());
}

TEST(HandoffResult, SaysThatACopyThreadStandsInForTheGpu) {
  HandoffResult result = handoff_result();
  result.path_blocking = PathFigures{"cpu", {1, 2, 3}, {1, 2, 3}};
  result.path_spinning = result.path_blocking;
  EXPECT_THAT(handoff_text(result), HasSubstr("a copy thread stands in for the GPU"));
  result.path_blocking->device = "cuda:0 (a GPU)";
  EXPECT_THAT(handoff_text(result), Not(HasSubstr("stands in")));
  EXPECT_EQ(handoff_json(result).at("path").at("spinning").at("submit_to_lease_ns").at("p99"), 2);
}

TEST(HandoffResult, ShowsPythonsQueueInTheSameTable) {
  HandoffResult result = handoff_result();
  result.python_queue = nlohmann::ordered_json::parse(
      R"({"latency_ns":{"p50":20000,"p99":60000,"p999":90000},"handovers_per_s":120000.5})");
  EXPECT_THAT(handoff_text(result),
              testing::ContainsRegex("multiprocessing.Queue +20.00 +60.00 +90.00 +120000"));
}

}  // namespace
}  // namespace tailrace
