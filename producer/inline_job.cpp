#include "producer/inline_job.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "config/exit_codes.hpp"
#include "producer/feed.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/profile_actions.hpp"
#include "producer/upload_queue.hpp"
#include "systemd/notify.hpp"

namespace tailrace {

int run_inline_job(const Config& config, const Source& source, Model& model, Device& device,
                   StopSignals& signals, InlineEgress::Handler handler) {
  notify_ready("working without a ring");
  InlineEgress egress(device, std::move(handler));
  const InputPipelineOptions options{config.source.batch_size, config.source.workers, config.source.prefetch,
                                     static_cast<std::uint32_t>(UploadQueue::held(device)), BatchNumber{0}};
  InputPipeline input(source, options, device);
  const auto record = std::make_unique<ProducerRecord>();
  CounterBlock* counters = &record->counters;
  UploadQueue uploads(input, device, *counters);
  const auto clock = device.make_compute_clock();
  Feed feed(uploads, model, *clock, egress, *counters);
  ProfileWindow window(config.profile, profile_actions(config, device, *counters, record->gauges, [&] {
                         feed.drain();
                         return true;
                       }));
  const auto step = [&] {
    window.before_step();
    return feed.do_work();
  };
  while (!signals.stop_requested() && !signals.orphaned() && step()) notify_watchdog();
  window.finish();
  const std::uint64_t skipped = counters->get(Counter::kSkippedItems);
  const std::uint64_t done = counters->get(Counter::kItems);
  spdlog::info("{} of {} items done, {} skipped", done, source.item_count(), skipped);
  if (done + skipped < source.item_count()) return 128 + signals.signal();
  return skipped == 0 ? kExitDone : kExitSkippedItems;
}

}  // namespace tailrace
