#include "producer/profile/profile_actions.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <system_error>
#include <utility>

#include "producer/profile/throughput_report.hpp"

namespace tailrace {
namespace {

// A figure or timeline that cannot be written is no reason to stop the pipeline.
template <typename Work>
void without_stopping(Work work) {
  try {
    work();
  } catch (const std::system_error& error) {
    spdlog::error("{}", error.what());
  }
}

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

ProfileWindow::Actions profile_actions(const Config& config, Device& device, TraceRecorder* trace,
                                       const ProducerRecord& producer, std::function<bool()> drain) {
  const auto capture = std::make_shared<std::unique_ptr<Capture>>();  // for as long as the actions live
  ProfileWindow::Actions actions;
  actions.drain = std::move(drain);
  actions.sample = [&producer] { return sample_throughput(producer.counters); };
  actions.on_begin = [&device, trace, capture] {
    *capture = device.make_capture();
    if (trace != nullptr) trace->start();
  };
  actions.on_end = [&config, &device, &producer, trace](const Throughput& throughput) {
    if (trace != nullptr) without_stopping([&] { trace->stop(); });
    without_stopping([&] { report(throughput, config, device, producer.gauges); });
  };
  actions.on_cooled_down = [capture] { capture->reset(); };
  return actions;
}

}  // namespace tailrace
