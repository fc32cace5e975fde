#include "ctl/exporter/ring_metrics.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "tests/exporter/example_ring.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const RingReport& ring, std::optional<double> busy = std::nullopt) {
  MetricFamilies families;
  add_ring(ring, judge(ring), busy, families);
  return families.text();
}

void set(CounterValues& counters, Counter counter, std::uint64_t value) {
  counters[static_cast<std::size_t>(counter)] = value;
}

TEST(RingMetrics, SayThatARingMayNotBeReadAndNothingMore) {
  RingReport ring;
  ring.name = "seg";
  ring.attach = AttachState::kIncompatible;
  ring.forbidden = true;
  const std::string text = text_of(ring);
  EXPECT_THAT(
      text, AllOf(HasSubstr("tailrace_up{pipeline=\"seg\",reason=\"forbidden\"} 0\n"),
                  HasSubstr("tailrace_live{pipeline=\"seg\"} 1\n"),
                  HasSubstr("tailrace_ready{pipeline=\"seg\"} 0\n"), Not(HasSubstr("tailrace_ring_state"))));
}

TEST(RingMetrics, TellWhatProducerAndConsumersCounted) {
  RingReport ring = example_ring();
  set(ring.counters, Counter::kBatches, 6);
  set(ring.counters, Counter::kDeaths, 1);
  set(ring.groups[0].counters, Counter::kBatches, 4);
  set(ring.groups[0].counters, Counter::kRedeliveries, 2);
  EXPECT_THAT(
      text_of(ring),
      AllOf(
          HasSubstr("tailrace_batches_total{pipeline=\"seg\",role=\"producer\"} 6\n"),
          HasSubstr("tailrace_deaths_total{pipeline=\"seg\",role=\"producer\"} 1\n"),
          HasSubstr("tailrace_batches_total{pipeline=\"seg\",group=\"masks\",role=\"consumer\"} 4\n"),
          HasSubstr("tailrace_redeliveries_total{pipeline=\"seg\",group=\"masks\",role=\"consumer\"} 2\n")));
}

TEST(RingMetrics, GiveTimesInSecondsAndStallsByReason) {
  RingReport ring = example_ring();
  set(ring.counters, Counter::kStallInputNs, 1'500'000'000);
  set(ring.groups[0].counters, Counter::kStallConsumerNs, 2'000'000'000);
  const std::string text = text_of(ring);
  EXPECT_THAT(
      text,
      HasSubstr("tailrace_stall_seconds_total{pipeline=\"seg\",role=\"producer\",reason=\"input\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("role=\"consumer\",reason=\"consumer\"} 2\n"));
  EXPECT_THAT(text, Not(HasSubstr("role=\"producer\",reason=\"consumer\"")));
}

TEST(RingMetrics, TellEachStallCounterOnce) {
  const std::string text = text_of(example_ring());
  for (const std::string_view name : kCounterNames) {
    if (!name.starts_with("stall_")) continue;
    const std::string reason(name.substr(6, name.size() - 9));
    const std::string wanted = "reason=\"" + reason + "\"}";
    const std::size_t at = text.find(wanted);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(text.find(wanted, at + 1), std::string::npos) << name;
  }
}

TEST(RingMetrics, CountSkippedItemsByReasonAlone) {
  RingReport ring = example_ring();
  set(ring.counters, Counter::kSkippedItems, 3);
  set(ring.counters, Counter::kSkippedTooLarge, 3);
  EXPECT_THAT(text_of(ring),
              AllOf(HasSubstr("reason=\"too_large\"} 3\n"), HasSubstr("reason=\"undecodable\"} 0\n"),
                    Not(HasSubstr("reason=\"items\""))));
}

TEST(RingMetrics, MakeHistogramsCumulativeWithEverythingUnderInfinity) {
  RingReport ring = example_ring();
  StageTimes& sink = ring.groups[0].stages[static_cast<std::size_t>(Stage::kSink)];
  sink.buckets.front() = 2;
  sink.buckets[2] = 1;
  sink.buckets.back() = 4;
  sink.sum_ns = 3'000'000'000;
  const std::string labels = "{pipeline=\"seg\",group=\"masks\",role=\"consumer\",stage=\"sink\"";
  EXPECT_THAT(text_of(ring),
              AllOf(HasSubstr("tailrace_stage_seconds_bucket" + labels + ",le=\"2.56e-07\"} 2\n"),
                    HasSubstr("tailrace_stage_seconds_bucket" + labels + ",le=\"5.12e-07\"} 2\n"),
                    HasSubstr("tailrace_stage_seconds_bucket" + labels + ",le=\"1.024e-06\"} 3\n"),
                    HasSubstr("tailrace_stage_seconds_bucket" + labels + ",le=\"+Inf\"} 7\n"),
                    HasSubstr("tailrace_stage_seconds_count" + labels + "} 7\n"),
                    HasSubstr("tailrace_stage_seconds_sum" + labels + "} 3\n")));
}

TEST(RingMetrics, LeaveOutWhatIsNotKnown) {
  RingReport ring = example_ring();
  ring.published.reset();
  EXPECT_THAT(text_of(ring),
              AllOf(Not(HasSubstr("tailrace_job_published")), Not(HasSubstr("tailrace_gpu_busy")),
                    Not(HasSubstr("tailrace_link_bytes"))));
  ring.gauges.link_bytes_per_s = 50;
  EXPECT_THAT(text_of(ring, 0.25), AllOf(HasSubstr("tailrace_gpu_busy_ratio{pipeline=\"seg\"} 0.25\n"),
                                         HasSubstr("tailrace_link_bytes_per_second{pipeline=\"seg\"} 50\n")));
}

TEST(RingMetrics, SayWhyARingCannotBeRead) {
  RingReport ring;
  ring.name = "seg";
  ring.attach = AttachState::kTooSmall;
  EXPECT_THAT(text_of(ring), AllOf(HasSubstr("tailrace_up{pipeline=\"seg\",reason=\"too_small\"} 0\n"),
                                   HasSubstr("tailrace_live{pipeline=\"seg\"} 0\n"),
                                   Not(HasSubstr("tailrace_batches_total"))));
  RingReport damaged = example_ring();
  damaged.damage = "slot 1";
  EXPECT_THAT(text_of(damaged), AllOf(HasSubstr("tailrace_up{pipeline=\"seg\",reason=\"damaged\"} 0\n"),
                                      HasSubstr("tailrace_batches_total")));
}

TEST(RingMetrics, SurviveCountersThatSomebodyScribbledOver) {
  RingReport ring = example_ring();
  ring.counters.fill(std::numeric_limits<std::uint64_t>::max());
  for (StageTimes& stage : ring.stages) stage.buckets.fill(std::numeric_limits<std::uint64_t>::max());
  ring.state = static_cast<RingState>(99);
  ring.producer->activity = "unknown";
  EXPECT_THAT(text_of(ring), HasSubstr("tailrace_ring_state{pipeline=\"seg\",state=\"open\"} 0\n"));
}

TEST(RingMetrics, CountOnlyLivingConsumersAndSayWhatTheyAreAt) {
  RingReport ring = example_ring();
  ring.consumers.push_back(example_process(2, "masks", Activity::kSink));
  ring.consumers.back().alive = false;
  EXPECT_THAT(text_of(ring), AllOf(HasSubstr("tailrace_consumers{pipeline=\"seg\",group=\"masks\"} 1\n"),
                                   HasSubstr("role=\"consumer\",id=\"1\",activity=\"sink\"} 0\n"),
                                   Not(HasSubstr("id=\"2\""))));
}

}  // namespace
}  // namespace tailrace
