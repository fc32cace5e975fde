#include "producer/profile_actions.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "producer/throughput_report.hpp"

namespace tailrace {
namespace {

void report(const Throughput& throughput, const Config& config, const Device& device,
            const ProducerGauges& gauges) {
  spdlog::info("throughput: {}", throughput_text(throughput));
  if (throughput.limited_by() == "input")
    spdlog::info("the device waited for input: raise source.workers (now {})", config.source.workers);
  if (throughput.limited_by() == "slots")
    spdlog::info(
        "the device waited for the consumers: start more of them, or give the ring more slots (now {})",
        config.ring.slots);
  if (!config.profile.report.empty())
    write_report(config.profile.report, throughput_json(throughput, config, device, gauges));
}

}  // namespace

ProfileWindow::Actions profile_actions(const Config& config, Device& device, const CounterBlock& counters,
                                       const ProducerGauges& gauges, std::function<bool()> drain) {
  return {std::move(drain), [&counters] { return sample_throughput(counters); }, [] {}, [] {},
          [&](const Throughput& throughput) { report(throughput, config, device, gauges); }};
}

}  // namespace tailrace
