#include "producer/inline_job.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "config/exit_codes.hpp"
#include "producer/feed.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/profile/profile_actions.hpp"
#include "producer/upload_queue.hpp"
#include "systemd/notify.hpp"

namespace tailrace {

int run_inline_job(const JobParts& parts, StopSignals& signals, InlineEgress::Handler handler) {
  notify_ready("working without a ring");
  InlineEgress egress(parts.device, std::move(handler));
  const BatchPlan plan = parts.record.plan();
  InputPipeline input(parts.source, input_options(parts, plan, BatchNumber{0}), parts.device);
  const auto producer = std::make_unique<ProducerRecord>();
  CounterBlock& counters = producer->counters;
  UploadQueue uploads(input, parts.device, counters);
  const auto clock = parts.device.make_compute_clock();
  Feed feed(uploads, parts.model, *clock, egress, counters, BatchNumber{0}, [](Activity) {});
  const auto drain = [&feed] {
    feed.drain();
    return true;
  };
  ProfileWindow window(parts.config.profile,
                       profile_actions(parts.config, parts.device, parts.outputs, *producer, drain));
  const auto step = [&] {
    window.before_step();
    return feed.do_work();
  };
  while (!signals.stop_requested() && !signals.orphaned() && step()) notify_watchdog();
  window.finish();
  return feed.at_end() ? parts.record.finish() : 128 + signals.signal();
}

}  // namespace tailrace
