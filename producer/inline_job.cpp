#include "producer/inline_job.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <utility>

#include "config/exit_codes.hpp"
#include "producer/feed.hpp"
#include "producer/input_pipeline.hpp"
#include "systemd/notify.hpp"

namespace tailrace {

int run_inline_job(const Config& config, const Source& source, Model& model, Device& device,
                   StopSignals& signals, InlineEgress::Handler handler) {
  notify_ready("working without a ring");
  InlineEgress egress(device, std::move(handler));
  const InputPipelineOptions options{config.source.batch_size, config.source.workers, config.source.prefetch,
                                     1, BatchNumber{0}};
  InputPipeline input(source, options, device);
  const auto counters = std::make_unique<CounterBlock>();
  Feed feed(input, model, egress, *counters, BatchNumber{0});
  while (!signals.stop_requested() && !signals.orphaned() && feed.do_work()) notify_watchdog();
  const std::uint64_t skipped = counters->get(Counter::kSkippedItems);
  const std::uint64_t done = counters->get(Counter::kItems);
  spdlog::info("{} of {} items done, {} skipped", done, source.item_count(), skipped);
  if (done + skipped < source.item_count()) return 128 + signals.signal();
  return skipped == 0 ? kExitDone : kExitSkippedItems;
}

}  // namespace tailrace
