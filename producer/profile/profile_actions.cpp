#include "producer/profile/profile_actions.hpp"

#include <spdlog/spdlog.h>

#include <fstream>
#include <memory>
#include <string>
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

void say(const Throughput& throughput, const Config& config) {
  spdlog::info("throughput: {}", throughput_text(throughput));
  if (throughput.limited_by() == "input")
    spdlog::info("the device waited for input: raise source.workers (now {})", config.source.workers);
  if (throughput.limited_by() == "slots")
    spdlog::info(
        "the device waited for the consumers: start more of them, or give the ring more slots (now {})",
        config.ring.slots);
}

}  // namespace

ProfileWindow::Actions profile_actions(const Config& config, Device& device, const ProfileOutputs& outputs,
                                       const ProducerRecord& producer, std::function<bool()> drain) {
  const auto capture = std::make_shared<std::unique_ptr<Capture>>();  // for as long as the actions live
  ProfileWindow::Actions actions;
  actions.drain = std::move(drain);
  actions.sample = [&producer] { return sample_throughput(producer.counters); };
  actions.on_begin = [&device, &outputs, capture] {
    *capture = device.make_capture();
    if (outputs.trace) outputs.trace->start();
  };
  actions.on_end = [&config, &device, &producer, &outputs](const Throughput& throughput) {
    say(throughput, config);
    if (outputs.trace) without_stopping([&] { outputs.trace->stop(); });
    if (!outputs.report) return;
    const std::string json = throughput_json(throughput, config, device, producer.gauges);
    without_stopping(
        [&] { outputs.report->write([&](const std::string& name) { std::ofstream(name) << json; }); });
  };
  actions.on_missed = [&config] {
    spdlog::warn("nothing was measured: the run ended within the {} batches of profile.warmup_steps",
                 config.profile.warmup_steps);
  };
  actions.on_cooled_down = [capture] { capture->reset(); };
  return actions;
}

}  // namespace tailrace
