#include "producer/inline_job.hpp"

#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "config/exit_codes.hpp"
#include "producer/feed.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/profile/profile_actions.hpp"
#include "producer/upload_queue.hpp"

namespace tailrace {
namespace {

std::string status_text(const CounterBlock& counters, const BatchPlan& plan) {
  return fmt::format("{} batches done in this process, of {} in the job; {} items were finished before",
                     counters.get(Counter::kBatches), value_of(plan.end()), plan.finished_items());
}

/// `is_measured`: [profile] is about this one. Empty: somebody has had items done again, which `plan` lacks.
std::optional<int> run_plan(const JobParts& parts, const BatchPlan& plan, bool is_measured, Service& service,
                            InlineEgress& egress) {
  const StopSignals& signals = service.signals;
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
  std::optional<ProfileWindow> window;
  if (is_measured)
    window.emplace(parts.config.profile,
                   profile_actions(parts.config, parts.device, parts.outputs, *producer, drain));
  const auto step = [&] {
    if (window) window->before_step();
    return feed.do_work();
  };
  const StopSignals::StopHook wake_input(service.signals, [&input] { input.request_stop(); });
  const Lifesign::Stage stage(
      service.life, [&] { return status_text(counters, plan); }, [&input] { return input.rows_read(); });
  static_cast<void>(uploads.next());  // the feed's first one
  service.life.ready();
  while (!signals.stop_requested() && !signals.orphaned() && step()) service.life.turn();
  if (window) window->finish();
  if (feed.at_end()) return parts.record.finish();
  spdlog::info("stopped; {}", status_text(counters, plan));
  return kExitDone;
}

}  // namespace

int run_inline_job(const JobParts& parts, BatchPlan plan, Service& service, InlineEgress::Handler handler) {
  InlineEgress egress(parts.device, std::move(handler));
  for (bool is_first = true;; is_first = false) {
    if (const auto code = run_plan(parts, plan, is_first, service, egress)) return *code;
    plan = parts.record.plan();
  }
}

}  // namespace tailrace
