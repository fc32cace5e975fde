#include "producer/ring_job.hpp"

#include <spdlog/spdlog.h>

#include <chrono>

#include "config/exit_codes.hpp"
#include "producer/egress/link_check.hpp"
#include "producer/egress/overlapped.hpp"
#include "producer/egress/pool.hpp"
#include "producer/egress/workers.hpp"
#include "producer/profile/profile_actions.hpp"
#include "shm/clock.hpp"
#include "systemd/notify.hpp"
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

}  // namespace

RingJob::RingJob(const JobParts& parts, StopSignals& signals)
    : parts_(parts),
      signals_(&signals),
      owner_(
          RingFiles(parts.config.pipeline.name, parts.config.ring.directory),
          ring_spec_for(parts.config, parts.source, parts.model),
          [](const std::string& line) { spdlog::info("{}", line); },
          [&] { return signals.stop_requested(); }),
      janitor_(owner_.ring(), kProducerId, log_ring_events(owner_.ring()).on_reclaim),
      housekeeper_(owner_.ring(), owner_.participant(), log_ring_events(owner_.ring())),
      free_queue_(owner_.ring(), janitor_, parts.config.ring.spin, owner_.start().next_seq),
      slots_(owner_.ring(), free_queue_, [this] { return stopping() || abandoned(); }),
      input_(parts.source, input_options(parts, owner_.start().next), parts.device),
      memory_(owner_, parts.config.egress.strategy, parts.device),
      uploads_(input_, parts.device, counters()),
      clock_(parts.device.make_compute_clock()),
      egress_(make_egress(parts.config.egress, owner_.ring(), slots_, parts.device)),
      feed_(uploads_, parts.model, *clock_, *egress_, counters(), owner_.start().next),
      window_(parts.config.profile, profile_actions(parts.config, parts.device, parts.outputs,
                                                    owner_.ring().producer(), [this] { return drain(); })) {
  const RingGeometry& geometry = owner_.ring().geometry();
  spdlog::info("{} items in {} batches, starting with batch {}", geometry.item_count, geometry.batch_count,
               value_of(owner_.start().next));
}

int RingJob::run() {
  check_link(owner_.ring(), parts_.device);
  notify_ready("publishing");
  publish_all();
  feed_.drain();
  if (stopping() && !draining()) {
    spdlog::info("stopped; the ring stays for the next producer");
    return kExitDone;
  }
  owner_.set_finished();
  notify_status("waiting for the consumers");
  if (!wait_for_consumers()) {
    spdlog::warn("left before the consumers had everything");
    return kExitDone;
  }
  window_.finish();
  const int code = exit_code();
  owner_.remove_files();
  return code;
}

bool RingJob::draining() const {
  return signals_->orphaned() || owner_.ring().header().drain_requested.load(std::memory_order_acquire) != 0;
}

void RingJob::publish_all() {
  while (!stopping() && !draining()) {
    check_ring();
    window_.before_step();
    if (!feed_.do_work()) return;
    owner_.participant().record().progress.fetch_add(1, std::memory_order_relaxed);
    notify_watchdog();
  }
}

bool RingJob::drain() {
  feed_.drain();
  return wait_for_consumers();
}

void RingJob::check_ring() {
  if (const auto damage = housekeeper_.damage()) throw DamagedDescriptor("damaged ring: " + *damage);
  if (housekeeper_.names_lost() && !said_names_lost_)
    spdlog::error(
        "somebody removed the ring's files; the processes that are attached go on, new ones cannot join");
  said_names_lost_ = housekeeper_.names_lost();
}

bool RingJob::wait_for_consumers() {
  const std::uint64_t start_ns = monotonic_ns();
  const bool done = await_all_done();
  counters().add(Counter::kStallSlotNs, monotonic_ns() - start_ns);
  return done;
}

bool RingJob::await_all_done() {
  const Ring& ring = owner_.ring();
  std::uint64_t say_ns = monotonic_ns() + kSayEveryNs;
  for (;;) {
    const std::uint32_t ticket = ring.free_events().prepare();
    if (ring.protocol().all_done()) return true;
    if (stopping() || abandoned()) return false;
    check_ring();
    notify_watchdog();
    ring.free_events().wait(ticket, kWait, std::chrono::nanoseconds(0));
    janitor_.do_work();
    if (monotonic_ns() < say_ns) continue;
    spdlog::info("waiting for the consumers to take what is published: {}", describe_slots(ring));
    say_ns = monotonic_ns() + kSayEveryNs;
  }
}

bool RingJob::abandoned() const { return signals_->orphaned() && !has_consumers(); }

bool RingJob::has_consumers() const {
  const LockLiveness liveness(owner_.ring());
  for (std::uint32_t i = 1; i < kMaxParticipants; ++i)
    if (liveness.is_held(ParticipantId{i})) return true;
  return false;
}

int RingJob::exit_code() const {
  std::uint64_t left_out = counters().get(Counter::kSkippedItems);
  for (std::uint32_t g = 0; g < owner_.ring().geometry().groups.size(); ++g)
    left_out += owner_.ring().group_counters(GroupId{g}).get(Counter::kQuarantined);
  return left_out == 0 ? kExitDone : kExitSkippedItems;
}

}  // namespace tailrace
