#pragma once

#include <cstdint>
#include <string>

#include "ctl/ring_report.hpp"

namespace tailrace::testing {

inline void set(CounterValues& counters, Counter counter, std::uint64_t value) {
  counters[static_cast<std::size_t>(counter)] = value;
}

/// `count` times `each_ns`, in one bucket.
inline StageTimes times(std::uint64_t count, std::uint64_t each_ns) {
  HistogramRecord histogram{};
  histogram.add(each_ns);
  StageTimes made;
  for (std::size_t i = 0; i < made.buckets.size(); ++i) made.buckets[i] = count * histogram.buckets[i];
  made.sum_ns = count * each_ns;
  return made;
}

inline void set(StageTable& stages, Stage stage, const StageTimes& times) {
  stages[static_cast<std::size_t>(stage)] = times;
}

inline ParticipantReport process(std::uint32_t id, std::int64_t pid, Activity activity, double age_s = 0.01) {
  ParticipantReport made;
  made.id = id;
  made.pid = pid;
  made.alive = true;
  made.heartbeat_age_s = 0.02;
  made.activity = name_of(activity);
  made.activity_age_s = age_s;
  return made;
}

inline ParticipantReport consumer(std::uint32_t id, const std::string& group,
                                  Activity activity = Activity::kWaiting, double age_s = 0.01) {
  ParticipantReport made = process(id, 100 + id, activity, age_s);
  made.group = group;
  return made;
}

/// A ring of one group, "masks", with a producer (pid 77) and one consumer (pid 101), as it looks `time_s`
/// after some moment.
inline RingReport report(double time_s = 100) {
  RingReport made;
  made.time_ns = static_cast<std::uint64_t>(time_s * 1e9);
  made.name = "seg";
  made.attach = AttachState::kReady;
  made.epoch = 0xabcd;
  made.slots = 8;
  made.slot_bytes = 1U << 20;
  made.items = 4000;
  made.batches = 1000;
  made.published = 10;
  made.producer = process(0, 77, Activity::kCompute);
  made.producer->batches = 100;
  made.consumers.push_back(consumer(1, "masks"));
  made.groups.emplace_back();
  made.groups[0].name = "masks";
  set(made.counters, Counter::kBatches, 10);
  return made;
}

}  // namespace tailrace::testing
