#include "producer/profile/throughput_report.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/producer/stub_device.hpp"

namespace tailrace {
namespace {

TEST(ThroughputReport, HoldsTheFiguresAndWhatTheyWereReachedWith) {
  Config config;
  config.groups.emplace_back();
  config.pipeline.name = "seg";
  config.egress.strategy = EgressStrategyKind::kPool;
  config.model.precision = Precision::kBf16;
  ProducerGauges gauges{};
  gauges.link_bytes_per_s = 55'000'000'000;
  gauges.slots_pinned = 8;
  gauges.numa_node = -1;
  const auto json = nlohmann::json::parse(
      throughput_json({2, 20, 1280, 28'000'000, 1.5, 0.25, 0.125}, config, StubDevice(), gauges));
  EXPECT_EQ(json["pipeline"], "seg");
  EXPECT_EQ(json["strategy"], "pool");
  EXPECT_EQ(json["precision"], "bf16");
  EXPECT_EQ(json["model"], "deeplabv3_resnet50");
  EXPECT_EQ(json["device"], "stub");
  EXPECT_EQ(json["steps"], 20);
  EXPECT_EQ(json["steps_per_s"], 10);
  EXPECT_EQ(json["gpu_busy"], 0.75);
  EXPECT_EQ(json["limited_by"], "input");
  EXPECT_EQ(json["link_bytes_per_s"], 55'000'000'000);
  EXPECT_EQ(json["slots_pinned"], true);
  EXPECT_EQ(json["numa_node"], -1);
}

}  // namespace
}  // namespace tailrace
