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
  InputPipeline input(parts.source, input_options(parts, BatchNumber{0}), parts.device);
  const auto producer = std::make_unique<ProducerRecord>();
  CounterBlock& counters = producer->counters;
  UploadQueue uploads(input, parts.device, counters);
  const auto clock = parts.device.make_compute_clock();
  Feed feed(uploads, parts.model, *clock, egress, counters, BatchNumber{0});
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
  const std::uint64_t skipped = counters.get(Counter::kSkippedItems);
  const std::uint64_t done = counters.get(Counter::kItems);
  spdlog::info("{} of {} items done, {} skipped", done, parts.source.item_count(), skipped);
  if (done + skipped < parts.source.item_count()) return 128 + signals.signal();
  return skipped == 0 ? kExitDone : kExitSkippedItems;
}

}  // namespace tailrace
