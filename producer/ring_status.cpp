#include "producer/ring_status.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "os/clock.hpp"
#include "shm/limit.hpp"
#include "shm/ring_occupants.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kWindowNs = 5'000'000'000;
constexpr double kWaitingAfterS = 1;

double share_of(std::uint64_t before, std::uint64_t now, double seconds) {
  return std::clamp((static_cast<double>(now) - static_cast<double>(before)) / 1e9 / seconds, 0.0, 1.0);
}

std::string_view words_for(Limit limit) {
  switch (limit) {
    case Limit::kModel:
      break;
    case Limit::kLoop:
      return "launching the model";
    case Limit::kInput:
      return "the input";
    case Limit::kSlots:
      return "the consumers";
    case Limit::kDevice:
      return "the copies";
  }
  return "the model";
}

}  // namespace

RingStatus::Sample RingStatus::take_sample() const {
  const CounterBlock& counters = ring_->producer().counters;
  const ParticipantRecord& record = ring_->participants()[index_of(kProducerId)];
  Sample sample{monotonic_ns(),
                counters.get(Counter::kBatches),
                counters.get(Counter::kStallInputNs),
                counters.get(Counter::kStallSlotNs),
                counters.get(Counter::kStallComputeNs),
                counters.get(Counter::kComputeNs)};
  // Waits for slots are counted each 100 ms, the others at their end, which may be far. relaxed: for people
  const std::uint64_t since_ns = record.activity_since_ns.load(std::memory_order_relaxed);
  const std::uint64_t lasting_ns = sample.time_ns - std::min(since_ns, sample.time_ns);
  const Activity activity = record.activity.load(std::memory_order_relaxed);
  if (activity == Activity::kInput) sample.stall_input_ns += lasting_ns;
  if (activity == Activity::kCompute) {
    sample.stall_device_ns += lasting_ns;
    sample.compute_ns += lasting_ns;
  }
  return sample;
}

std::string RingStatus::pace() {
  const Sample now = take_sample();
  while (samples_.size() > 1 && now.time_ns - samples_.front().time_ns > kWindowNs) samples_.pop_front();
  samples_.push_back(now);
  const Sample& then = samples_.front();
  const double seconds = static_cast<double>(now.time_ns - then.time_ns) / 1e9;
  if (seconds < 0.5) return {};
  const ProducerShares shares{share_of(then.stall_input_ns, now.stall_input_ns, seconds),
                              share_of(then.stall_slot_ns, now.stall_slot_ns, seconds),
                              share_of(then.stall_device_ns, now.stall_device_ns, seconds),
                              share_of(then.compute_ns, now.compute_ns, seconds)};
  return fmt::format(", {:.1f} steps/s, limited by {}",
                     static_cast<double>(now.batches - then.batches) / seconds, words_for(limit_of(shares)));
}

bool RingStatus::has_consumers(GroupId group) const {
  const auto consumers = holders(*ring_, 1);
  return std::any_of(consumers.begin(), consumers.end(), [&](ParticipantId id) {
    return ring_->participants()[index_of(id)].group.load(std::memory_order_relaxed) == index_of(group);
  });
}

std::string RingStatus::missing_consumers() const {
  const ParticipantRecord& record = ring_->participants()[index_of(kProducerId)];
  // relaxed: for people
  const Activity activity = record.activity.load(std::memory_order_relaxed);
  const bool waits = activity == Activity::kSlot || activity == Activity::kDraining;
  if (!waits || seconds_since(record.activity_since_ns.load(std::memory_order_relaxed)) < kWaitingAfterS)
    return {};
  std::string text;
  for (std::uint32_t g = 0; g < ring_->geometry().groups.size(); ++g)
    if (!ring_->protocol().group_is_done(GroupId{g}) && !has_consumers(GroupId{g}))
      text += ", waiting for consumers: group " + ring_->geometry().groups[g].name + " has none";
  return text;
}

std::string RingStatus::text() {
  if (ring_->state() == RingState::kFinished)
    return fmt::format("draining: {} batches left", ring_->protocol().count_unfinished()) +
           missing_consumers();
  const std::string missing = missing_consumers();
  return fmt::format("batch {} of {}", value_of(start_of(*ring_).next),
                     ring_->geometry().items.batch_count()) +
         (missing.empty() ? pace() : missing);
}

}  // namespace tailrace
