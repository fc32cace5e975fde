#include "producer/ring_job.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "config/exit_codes.hpp"
#include "os/clock.hpp"
#include "os/failpoint.hpp"
#include "producer/egress/link_check.hpp"
#include "producer/egress/overlapped.hpp"
#include "producer/egress/pool.hpp"
#include "producer/egress/workers.hpp"
#include "producer/profile/profile_actions.hpp"
#include "shm/ring_occupants.hpp"
#include "systemd/ring_log.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};
constexpr std::uint64_t kSayEveryNs = 10'000'000'000;

std::unique_ptr<EgressStrategy> make_egress(const EgressConfig& config, const Ring& ring, SlotSource& slots,
                                            Device& device) {
  switch (config.strategy) {
    case EgressStrategyKind::kPool:
      return std::make_unique<PoolEgress>(ring, slots, device);
    case EgressStrategyKind::kAsync:
      return std::make_unique<OverlappedEgress>(ring, slots, device, CopyStream::kCompute, config.spin);
    case EgressStrategyKind::kStreams:
      return std::make_unique<OverlappedEgress>(ring, slots, device, CopyStream::kEgress, config.spin);
    case EgressStrategyKind::kWorkers:
      return std::make_unique<WorkersEgress>(ring, slots, device);
    case EgressStrategyKind::kInline:
      break;
  }
  throw std::logic_error("not a strategy with a ring");
}

Housekeeper::Callbacks housekeeping(const RingOwner& owner, const JobParts& parts) {
  Housekeeper::Callbacks callbacks = note_ring_events(owner.ring(), parts.config.pipeline.state);
  callbacks.names_intact = [&owner] { return owner.names_intact(); };
  callbacks.on_check = [&record = parts.record] { record.look_for_ledger(); };
  return callbacks;
}

void say(const std::string& line) { spdlog::info("{}", line); }

bool is_pinned(const JobParts& parts) {
  return parts.device.is_cuda() && copies_overlap(parts.config.egress.strategy);
}

std::string names_text(const std::vector<std::filesystem::path>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name.string();
  return text;
}

}  // namespace

RingJob::RingJob(const JobParts& parts, BatchPlan plan, ProducerRole role, bool is_measured, Service& service)
    : parts_(parts),
      service_(&service),
      plan_(std::move(plan)),
      start_(std::in_place, service),
      owner_(
          std::move(role), ring_spec_for(parts, plan_),
          [this](const std::string& line) { start_->say(line); }, [this] { return start_->should_stop(); }),
      janitor_(owner_.ring(), kProducerId,
               note_ring_events(owner_.ring(), parts.config.pipeline.state).on_reclaim),
      housekeeper_(owner_.ring(), owner_.participant(), housekeeping(owner_, parts)),
      free_queue_(owner_.ring(), janitor_, service.config.ring_spin(), owner_.start().next_seq),
      slots_(owner_.ring(), free_queue_, [this] { return give_up_slot(); }),
      input_(parts.source, input_options(parts, plan_, owner_.start().next), parts.device),
      wake_input_(service.signals, [this] { input_.request_stop(); }),
      memory_(owner_, parts.config.egress.strategy, parts.device,
              [this](std::size_t ready) { start_->slot_ready(owner_.ring(), ready, is_pinned(parts_)); }),
      uploads_(input_, parts.device, counters()),
      clock_(parts.device.make_compute_clock()),
      egress_(make_egress(parts.config.egress, owner_.ring(), slots_, parts.device)),
      feed_(uploads_, parts.model, *clock_, *egress_, counters(), owner_.start().next,
            [this](Activity activity) { owner_.participant().enter(activity); }),
      status_(owner_.ring()),
      copies_(service.life, "copy out of the device", [this] {
        const EgressStrategy::Flow flow = egress_->flow();
        return Lifesign::Look{flow.busy, flow.published};
      }) {
  if (is_measured)
    window_.emplace(parts.config.profile,
                    profile_actions(parts.config, parts.device, parts.outputs, owner_.ring().producer(),
                                    [this] { return drain(); }));
  const ItemMap& items = plan_.items();
  spdlog::info("{} items ({} finished) in {} batches; starting with batch {}", items.position_count,
               plan_.finished_items(), items.batch_count(), value_of(plan_.first_from(owner_.start().next)));
}

std::optional<int> RingJob::run() {
  get_ready();
  publish_all();
  feed_.drain();
  if (!stopping()) {
    parts_.record.look_for_ledger();  // the end is not to be written into a file without a name
    parts_.record.require_ledger();
  }
  if (stopping() && !draining()) return stop();
  if (names_lost()) return leave_lost_ring();
  failpoint("before_finish");
  if (feed_.at_end()) owner_.set_source_at_end();
  owner_.set_finished();
  failpoint("after_finish");
  if (!wait_for_consumers()) {
    if (names_lost() && !stopping()) return leave_lost_ring();
    spdlog::warn("left before the consumers had everything");
    return kExitDone;
  }
  // Lost a moment ago: not everything that is left could be removed.
  if (!owner_.names_intact()) return leave_lost_ring();
  if (window_) window_->finish();
  const auto code = feed_.at_end() ? parts_.record.finish() : std::optional<int>(kExitDone);
  failpoint("before_remove");
  owner_.remove_files();
  if (!code) spdlog::info("items were given back by `tailrace quarantine retry`: going on with them");
  return code;
}

void RingJob::get_ready() {
  {
    const Lifesign::Stage stage(service_->life, "measuring the link");
    check_link(owner_.ring(), parts_.device);
  }
  {
    const Lifesign::Stage stage(service_->life, "reading the first batch",
                                [this] { return input_.rows_read(); });
    static_cast<void>(uploads_.next());  // the feed's first one
  }
  start_.reset();
  stage_.emplace(
      service_->life, [this] { return status_.text(); },
      [this] { return input_.rows_read() + egress_->flow().published; });
  service_->life.ready();
}

int RingJob::stop() const {
  spdlog::info("stopped; {} published batches wait for consumers; the ring stays for the next producer",
               owner_.ring().protocol().count_unfinished());
  return kExitDone;
}

bool RingJob::give_up_slot() const {
  service_->life.turn();
  return stopping() || abandoned() || names_lost() || parts_.record.is_lost();
}

void RingJob::request_drain() const {
  owner_.ring().header().drain_requested.store(1, std::memory_order_release);
}

bool RingJob::draining() const {
  return service_->signals.orphaned() ||
         owner_.ring().header().drain_requested.load(std::memory_order_acquire) != 0;
}

void RingJob::publish_all() {
  while (!stopping() && !draining() && !names_lost()) {
    check_ring();
    if (window_) window_->before_step();
    free_queue_.set_spin(service_->config.ring_spin());
    egress_->set_spin(service_->config.egress_spin());
    if (!feed_.do_work()) return;
    owner_.participant().record().progress.fetch_add(1, std::memory_order_relaxed);
    service_->life.turn();
  }
}

bool RingJob::drain() {
  feed_.drain();
  return wait_for_consumers();
}

void RingJob::check_ring() {
  if (const auto damage = housekeeper_.damage()) throw DamagedDescriptor("damaged ring: " + *damage);
  parts_.record.require_ledger();
}

std::optional<int> RingJob::leave_lost_ring() {
  spdlog::error(
      "somebody removed {} under the running pipeline (logind does at a user's last logout, unless lingering "
      "is on): taking no more input; a new ring is made once the consumers have what is published",
      names_text(owner_.lost_names()));
  const Lifesign::Stage stage(service_->life,
                              "waiting for the consumers to leave a ring whose files are gone");
  const auto should_stop = [this] {
    service_->life.turn();
    return stopping();
  };
  if (window_) window_->finish();  // what it has measured is cut short
  if (owner_.retire(say, should_stop)) return std::nullopt;
  spdlog::warn("stopped before the ring was replaced");
  return kExitDone;
}

bool RingJob::wait_for_consumers() {
  const std::uint64_t start_ns = monotonic_ns();
  const bool done = await_all_done();
  counters().add(Counter::kStallSlotNs, monotonic_ns() - start_ns);
  return done;
}

bool RingJob::await_all_done() {
  owner_.participant().enter(Activity::kDraining);
  const Ring& ring = owner_.ring();
  std::uint64_t say_ns = monotonic_ns() + kSayEveryNs;
  for (;;) {
    const std::uint32_t ticket = ring.free_events().prepare();
    if (ring.protocol().all_done()) return true;
    if (stopping() || abandoned() || names_lost()) return false;
    check_ring();
    service_->life.turn();
    ring.free_events().wait(ticket, kWait, std::chrono::nanoseconds(0));
    janitor_.do_work();
    if (monotonic_ns() < say_ns) continue;
    spdlog::info("waiting for the consumers to take what is published: {}", describe_slots(ring));
    say_ns = monotonic_ns() + kSayEveryNs;
  }
}

bool RingJob::abandoned() const { return service_->signals.orphaned() && !has_consumers(); }

bool RingJob::has_consumers() const { return !holders(owner_.ring(), 1).empty(); }

namespace {

int do_ring_jobs(const JobParts& parts, BatchPlan plan, ProducerRole role, Service& service) {
  std::optional<ProducerRole> mine(std::move(role));
  bool is_first = true;
  bool drain = false;
  while (!service.signals.stop_requested()) {
    if (!mine) mine.emplace(take_role(files_of(parts.config), parts.config.pipeline.name));
    RingJob job(parts, std::move(plan), std::move(*mine), is_first, service);
    is_first = false;
    mine.reset();
    if (drain) job.request_drain();
    if (const auto code = job.run()) return *code;
    drain = job.draining();
    plan = parts.record.plan();
  }
  return kExitDone;
}

}  // namespace

int run_ring_jobs(const JobParts& parts, BatchPlan plan, ProducerRole role, Service& service) {
  try {
    return do_ring_jobs(parts, std::move(plan), std::move(role), service);
  } catch (const RingBusy& busy) {
    if (!service.signals.stop_requested()) throw;
    spdlog::info("{}", busy.what());
    return kExitDone;
  }
}

}  // namespace tailrace
