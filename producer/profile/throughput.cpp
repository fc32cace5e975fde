#include "producer/profile/throughput.hpp"

#include <spdlog/fmt/fmt.h>

#include "os/clock.hpp"
#include "shm/limit.hpp"

namespace tailrace {
namespace {

double seconds_between(std::uint64_t begin_ns, std::uint64_t end_ns) {
  return static_cast<double>(end_ns - begin_ns) / 1e9;
}

}  // namespace

ThroughputSample sample_throughput(const CounterBlock& producer) {
  return {monotonic_ns(),
          producer.get(Counter::kBatches),
          producer.get(Counter::kItems),
          producer.get(Counter::kBytes),
          producer.get(Counter::kComputeNs),
          producer.get(Counter::kStallInputNs),
          producer.get(Counter::kStallSlotNs)};
}

Throughput throughput_between(const ThroughputSample& begin, const ThroughputSample& end) {
  return {seconds_between(begin.time_ns, end.time_ns),
          end.steps - begin.steps,
          end.items - begin.items,
          end.bytes - begin.bytes,
          seconds_between(begin.compute_ns, end.compute_ns),
          seconds_between(begin.input_wait_ns, end.input_wait_ns),
          seconds_between(begin.slot_wait_ns, end.slot_wait_ns)};
}

std::string_view Throughput::limited_by() const {
  const double input = per_second(input_wait_s);
  const double slot = per_second(slot_wait_s);
  switch (limit_of({input, slot, 1 - input - slot, busy()})) {
    case Limit::kModel:
    case Limit::kLoop:
      break;
    case Limit::kInput:
      return "input";
    case Limit::kSlots:
      return "slots";
    case Limit::kDevice:
      return "egress";
  }
  return "compute";
}

std::string throughput_text(const Throughput& t) {
  return fmt::format(
      "{} steps in {:.1f} s: {:.2f} steps/s, {:.1f} items/s, {:.2f} GB/s out; device busy {:.2f} %; "
      "waited {:.1f} s for input, {:.1f} s for slots; limited by {}",
      t.steps, t.wall_s, t.per_second(static_cast<double>(t.steps)),
      t.per_second(static_cast<double>(t.items)), t.per_second(static_cast<double>(t.bytes)) / 1e9,
      100 * t.busy(), t.input_wait_s, t.slot_wait_s, t.limited_by());
}

}  // namespace tailrace
