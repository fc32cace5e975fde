#include "ctl/doctor/bottleneck.hpp"

#include <gmock/gmock.h>

#include <ostream>

#include "ctl/doctor/advice.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

/// A pipeline as one sentence says, and what limits it.
struct Case {
  const char* name;
  Bottleneck expected;
  PipelineFigures figures;
};

std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.name; }

struct Shares {
  double input = 0;
  double slot = 0;
  double device = 0;  // that the main loop waits for it
};

struct Busy {
  double device = 0;
  double h2d = 0;
  double copy = 0;
};

// 100 batches/s, whose times follow from how busy each stage is.
PipelineFigures figures(Shares waits, Busy busy, std::vector<GroupFigures> groups) {
  PipelineFigures f;
  f.interval_s = 2;
  f.batches_per_s = 100;
  f.waits_input = waits.input;
  f.waits_slot = waits.slot;
  f.waits_device = waits.device;
  f.device_busy = busy.device;
  f.h2d_busy = busy.h2d;
  f.copy_busy = busy.copy;
  f.h2d_s = busy.h2d / 100;
  f.compute_s = busy.device / 100;
  f.copy_s = busy.copy / 100;
  f.bytes_per_batch = 1e6;
  f.slots = 8;
  f.groups = std::move(groups);
  return f;
}

GroupFigures group(std::uint32_t consumers, double busy, double waiting, double storage = 0,
                   const char* name = "masks") {
  return {name, consumers, busy, waiting, storage, busy * consumers / 100};
}

const std::vector<GroupFigures> kIdleGroup{group(4, 0.3, 0.7)};

const Case kCases[] = {
    // On a GPU the main loop runs ahead and waits for the device; on the CPU the model is what it waits for.
    {"gpu_busy", Bottleneck::kNothing, figures({.device = 0.9}, {0.99, 0.2, 0.5}, kIdleGroup)},
    {"cpu_busy", Bottleneck::kNothing, figures({.device = 0.98}, {0.97, 0, 0.1}, kIdleGroup)},
    {"gpu_busy_although_consumers_are_too", Bottleneck::kNothing,
     figures({.slot = 0.03, .device = 0.9}, {0.96, 0.1, 0.4}, {group(1, 0.97, 0.02)})},
    {"nothing_stands_out", Bottleneck::kNothing,
     figures({.input = 0.02, .slot = 0.02, .device = 0.93}, {0.92, 0.1, 0.4}, kIdleGroup)},
    {"launches_of_small_kernels", Bottleneck::kCompute,
     figures({.device = 0.01}, {0.98, 0.1, 0.1}, kIdleGroup)},
    {"main_loop_alone", Bottleneck::kCompute, figures({.device = 0.1}, {0.1, 0, 0.05}, kIdleGroup)},
    {"device_waits_for_what_is_not_measured", Bottleneck::kCompute,
     figures({.device = 0.95}, {0.3, 0.01, 0.02}, kIdleGroup)},
    {"slow_decoding", Bottleneck::kInput, figures({.input = 0.7}, {0.3, 0.1, 0.2}, kIdleGroup)},
    {"slow_decoding_with_busy_consumers", Bottleneck::kInput,
     figures({.input = 0.5, .slot = 0.05}, {0.4, 0.1, 0.2}, {group(1, 0.92, 0.08)})},
    {"slow_decoding_on_the_cpu", Bottleneck::kInput,
     figures({.input = 0.3, .slot = 0.1, .device = 0.6}, {0.6, 0, 0}, kIdleGroup)},
    {"h2d_on_a_gpu", Bottleneck::kH2d, figures({.device = 0.97}, {0.3, 0.99, 0.4}, kIdleGroup)},
    {"h2d_in_the_main_loop", Bottleneck::kH2d, figures({.device = 0.95}, {0.1, 0.84, 0.01}, kIdleGroup)},
    {"copies_out", Bottleneck::kLink, figures({.device = 0.97}, {0.3, 0.4, 0.99}, kIdleGroup)},
    {"copies_take_turns_with_the_model", Bottleneck::kLink,
     figures({.device = 0.98}, {0.5, 0.1, 0.48}, kIdleGroup)},
    {"copies_hold_all_slots", Bottleneck::kLink,
     figures({.slot = 0.8, .device = 0.1}, {0.2, 0.1, 0.97}, kIdleGroup)},
    {"one_consumer", Bottleneck::kConsumers,
     figures({.slot = 0.6, .device = 0.2}, {0.35, 0, 0.1}, {group(1, 0.99, 0)})},
    {"one_of_two_groups", Bottleneck::kConsumers,
     figures({.slot = 0.6}, {0.35, 0, 0.1}, {group(2, 0.2, 0.8, 0, "sums"), group(2, 0.97, 0.02)})},
    {"some_storage_much_work", Bottleneck::kConsumers,
     figures({.slot = 0.6}, {0.35, 0, 0.1}, {group(2, 0.97, 0.02, 0.3)})},
    {"storage", Bottleneck::kDisk, figures({.slot = 0.6}, {0.35, 0, 0.1}, {group(2, 0.97, 0.02, 0.8)})},
    {"bursts", Bottleneck::kRing,
     figures({.slot = 0.4, .device = 0.5}, {0.5, 0, 0.1}, {group(2, 0.6, 0.35)})},
    {"bursts_of_storage", Bottleneck::kRing,
     figures({.slot = 0.4, .device = 0.5}, {0.5, 0, 0.1}, {group(2, 0.6, 0.35, 0.5)})},
};

class Named : public testing::TestWithParam<Case> {};

TEST_P(Named, IsTheOneThatLimits) {
  const Verdict verdict = find_bottleneck(GetParam().figures);
  EXPECT_EQ(name_of(verdict.bottleneck), name_of(GetParam().expected));
}

TEST_P(Named, ComesWithEvidenceAndRemedy) {
  const PipelineFigures& f = GetParam().figures;
  const Advice advice = advise("seg", find_bottleneck(f), f, nullptr);
  EXPECT_FALSE(advice.headline.empty());
  EXPECT_FALSE(advice.remedy.empty());
  for (const std::string& line : advice.evidence) EXPECT_THAT(line, testing::ContainsRegex("[0-9]"));
}

INSTANTIATE_TEST_SUITE_P(Bottleneck, Named, testing::ValuesIn(kCases),
                         [](const auto& tested) { return std::string(tested.param.name); });

PipelineFigures one_slow_consumer() {
  return figures({.slot = 0.6, .device = 0.2}, {0.5, 0, 0.1}, {group(1, 1.0, 0)});
}

TEST(Gain, GoesAsFarAsTheNextLimit) {
  const Verdict verdict = find_bottleneck(one_slow_consumer());
  ASSERT_TRUE(verdict.gain && verdict.then);
  EXPECT_NEAR(*verdict.gain, 2.0, 0.01);  // the model could do 200 batches/s
  EXPECT_EQ(verdict.then->stage, Bottleneck::kNothing);
  EXPECT_EQ(verdict.processes, 2U);
}

TEST(Gain, IsNoMoreThanWhatTheAdvisedProcessesBring) {
  PipelineFigures f = one_slow_consumer();
  f.waits_slot = 0.99;
  f.waits_device = 0.01;
  f.compute_s = 0.00001;
  f.device_busy = 0.001;
  f.copy_s = 0;
  const Verdict verdict = find_bottleneck(f);
  EXPECT_EQ(verdict.processes, 4U);
  EXPECT_NEAR(verdict.gain.value(), 4.0, 0.01);
  EXPECT_EQ(verdict.then->group, "masks");
}

TEST(Gain, IsNoMoreThanTheWaitThatGoes) {
  PipelineFigures f = figures({.input = 0.2}, {0.1, 0, 0.1}, kIdleGroup);
  f.waits_device = 0.75;
  f.device_busy = 0.75;
  EXPECT_NEAR(find_bottleneck(f).gain.value(), 1.25, 0.01);
}

TEST(Gain, IsThereAlsoWhereNoBatchCameInTheInterval) {
  PipelineFigures f = one_slow_consumer();
  f.batches_per_s = 0;
  f.groups[0].sink_s = 20;
  f.compute_s = 5;
  f.copy_s = 0;
  f.waits_slot = 1;
  f.waits_device = 0;
  f.device_busy = 0;
  const Verdict verdict = find_bottleneck(f);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kConsumers);
  EXPECT_NEAR(verdict.gain.value(), 4.0, 0.01);
}

TEST(Gain, OfFasterStorageLeavesTheGroupsOtherWork) {
  PipelineFigures f = figures({.slot = 0.9}, {0.05, 0, 0.05}, {group(1, 1.0, 0, 0.75)});
  const Verdict verdict = find_bottleneck(f);
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kDisk);
  EXPECT_NEAR(verdict.gain.value(), 4.0, 0.01);
  EXPECT_EQ(verdict.then->group, "masks");
}

TEST(Gain, OfNothingIsNone) {
  const Verdict verdict = find_bottleneck(figures({.device = 0.9}, {0.99, 0.2, 0.5}, kIdleGroup));
  EXPECT_FALSE(verdict.gain);
  EXPECT_EQ(gain_text(verdict), "");
}

TEST(Verdict, SurvivesAPipelineOfWhichNothingIsKnown) {
  const Verdict verdict = find_bottleneck({});
  EXPECT_EQ(verdict.bottleneck, Bottleneck::kCompute);  // the main loop waits for nothing, so it is at work
  EXPECT_FALSE(verdict.gain);
}

TEST(AdviceFor, ConsumersNamesTheCommandAndTheSetting) {
  const PipelineFigures f = one_slow_consumer();
  const Advice advice = advise("seg", find_bottleneck(f), f, nullptr);
  EXPECT_EQ(advice.command, "tailrace scale seg:masks 2");
  ASSERT_EQ(advice.settings.size(), 1U);
  EXPECT_EQ(advice.settings[0].key + "=" + advice.settings[0].value, "group.masks.processes=2");
}

TEST(AdviceFor, ConsumersSaysWhenTheMachineHasNoMoreCpus) {
  PipelineFigures f = one_slow_consumer();
  f.cpu_busy = 0.99;
  const Advice advice = advise("seg", find_bottleneck(f), f, nullptr);
  EXPECT_THAT(advice.evidence, testing::Contains(HasSubstr("CPUs are busy 99 %")));
  f.cpu_busy = 0.5;
  EXPECT_THAT(advise("seg", find_bottleneck(f), f, nullptr).evidence,
              testing::Not(testing::Contains(HasSubstr("CPUs"))));
}

TEST(AdviceFor, InputNamesTheValueWhereTheConfigurationIsKnown) {
  const PipelineFigures f = figures({.input = 0.7}, {0.3, 0.1, 0.2}, kIdleGroup);
  Config config;
  config.source.workers = 6;
  EXPECT_EQ(advise("seg", find_bottleneck(f), f, &config).settings.at(0).value, "12");
  EXPECT_EQ(advise("seg", find_bottleneck(f), f, nullptr).settings.at(0).value, "");
}

TEST(AdviceFor, CopiesThatAreSlowerThanTheLinkIsToPinTheRing) {
  PipelineFigures f = figures({.device = 0.97}, {0.3, 0.4, 0.99}, kIdleGroup);
  f.link_bytes_per_s = 50e9;  // the copies reach 0.1
  const Advice slow = advise("seg", find_bottleneck(f), f, nullptr);
  EXPECT_EQ(slow.settings.at(0).key, "egress.strategy");
  f.bytes_per_batch = 0.4e9;  // 40 of 50
  const Advice full = advise("seg", find_bottleneck(f), f, nullptr);
  EXPECT_EQ(full.settings.at(0).key, "egress.dtype");
}

TEST(AdviceFor, TheRingDoublesItsSlots) {
  const PipelineFigures f = figures({.slot = 0.4, .device = 0.5}, {0.5, 0, 0.1}, {group(2, 0.6, 0.35)});
  EXPECT_EQ(advise("seg", find_bottleneck(f), f, nullptr).settings.at(0).value, "16");
}

}  // namespace
}  // namespace tailrace
