#include "ctl/ring_troubles.hpp"

#include <algorithm>
#include <utility>

#include "config/exit_codes.hpp"
#include "ctl/figures_text.hpp"

namespace tailrace {
namespace {

constexpr double kSilentS = 5;  // heartbeats come each 50 ms
constexpr double kLongLeaseS = 30;
constexpr double kUsualLeases = 20;  // so many times the usual time of a batch is long
constexpr const char* kConsumerRemedy = "see its log; killing it gives the batch to another consumer";

double limit_of(const ParticipantReport& process) {
  return process.progress_limit_s > 0 ? process.progress_limit_s : kDefaultProgressLimitS;
}

/// Somebody else is to blame: nothing to lease, no free slot, storage that refuses (it gives up by itself).
bool rightly_waits(const ParticipantReport& process, const RingReport& ring) {
  const auto is_at = [&process](Activity activity) { return process.activity == name_of(activity); };
  if (is_at(Activity::kWaiting) || is_at(Activity::kDraining) || is_at(Activity::kRetrying)) return true;
  // In `slot` a producer may also wait for copies that do not end.
  return is_at(Activity::kSlot) && (ring.groups.empty() || ring.groups.front().slots.filling == 0);
}

std::string exit_text(const ProducerEndReport& end) {
  return "exit code " + std::to_string(end.exit_code) + (end.exit_code == kExitGpu ? " (GPU error) " : " ") +
         span_text(end.age_s) + " ago";
}

class Troubles {
 public:
  explicit Troubles(const RingReport& ring) : ring_(ring) {}

  std::vector<Trouble> find() {
    if (ring_.attach == AttachState::kInitialising) return {};
    // Whoever may read it knows better: it is not said to be dead, nor that all is well.
    if (ring_.forbidden) return {{Reach::kReady, "the ring may not be read: " + ring_.detail}};
    if (!ring_.readable()) return {{Reach::kLive, "the ring cannot be read: " + ring_.detail}};
    if (ring_.damage)
      add(Reach::kLive, "damaged: " + *ring_.damage + "; stop the pipeline, `tailrace clean " + ring_.name +
                            "`, start it again");
    check_producer();
    for (const ParticipantReport& consumer : ring_.consumers) check_consumer(consumer);
    for (const GroupReport& group : ring_.groups) check_group(group);
    return std::move(found_);
  }

 private:
  void add(Reach reach, std::string text) { found_.push_back({reach, std::move(text)}); }

  void check_producer() {
    if (ring_.failed_producer)
      add(Reach::kLive, "a producer ended with " + exit_text(*ring_.failed_producer) +
                            ", and none has published since: its log says why; the next one goes on where it "
                            "was");
    if (ring_.has_living_producer())
      check_process("the producer", *ring_.producer, "see its log, and the device's (nvidia-smi)");
    else if (!ring_.role_held && !ring_.is_over() && !ring_.failed_producer)
      check_absence();
  }

  void check_absence() {
    if (!ring_.producer) {
      add(Reach::kReady, "no producer: start the pipeline again, it goes on where it was");
      return;
    }
    const double dead_s = ring_.producer->heartbeat_age_s;
    add(dead_s > kReplacedWithinS ? Reach::kLive : Reach::kReady,
        "the producer (pid " + std::to_string(ring_.producer->pid) + ") died " + span_text(dead_s) +
            " ago, and no other one has taken its place: its log says why; the next one goes on where it "
            "was");
  }

  void check_process(const std::string& who, const ParticipantReport& process, const std::string& remedy) {
    const std::string pid = std::to_string(process.pid);
    if (stands_still(process))
      add(process.heartbeat_age_s > limit_of(process) ? Reach::kLive : Reach::kBatch,
          who + " (pid " + pid + ") has not moved for " + span_text(process.heartbeat_age_s) +
              ": stopped, frozen or swapped out? `kill -CONT " + pid + "` wakes a stopped one");
    else if (process.activity_age_s > limit_of(process) && !rightly_waits(process, ring_))
      add(Reach::kLive, who + " (pid " + pid + ") is stuck in " + std::string(process.activity) + " for " +
                            span_text(process.activity_age_s) + ", longer than its " +
                            span_text(limit_of(process)) + ": " + remedy);
  }

  void check_consumer(const ParticipantReport& consumer) {
    if (!consumer.alive) return;
    const std::string who = "consumer " + std::to_string(consumer.id) + " of group " + consumer.group;
    check_process(who, consumer, kConsumerRemedy);
    if (consumer.activity == name_of(Activity::kRetrying))
      add(Reach::kReady,
          who + " (pid " + std::to_string(consumer.pid) + ") cannot store its batch and tries again, for " +
              span_text(consumer.activity_age_s) + " now: its log names the path and the reason");
  }

  void check_group(const GroupReport& group) {
    if (ring_.count_living(group.name) == 0 && !ring_.has_everything(group))
      add(Reach::kReady, "group " + group.name +
                             " has no consumer: start the pipeline again; where its services do not stay up, "
                             "`systemctl --failed` and their logs say why; where the group was scaled to 0, "
                             "`tailrace scale " +
                             ring_.name + ":" + group.name + " 1`");
    const double usual_s = get(group.stages, Stage::kSink).mean_s();
    if (group.oldest_lease && group.oldest_lease->age_s > std::max(kLongLeaseS, kUsualLeases * usual_s))
      add(Reach::kBatch,
          "pid " + std::to_string(group.oldest_lease->pid) + " of group " + group.name + " has had slot " +
              std::to_string(group.oldest_lease->slot) + " for " + span_text(group.oldest_lease->age_s) +
              (usual_s > 0 ? " (usual: " + span_text(usual_s) + ")" : "") + ": " + kConsumerRemedy);
  }

  const RingReport& ring_;
  std::vector<Trouble> found_;
};

}  // namespace

bool stands_still(const ParticipantReport& process) noexcept {
  return process.alive && process.heartbeat_age_s > kSilentS;
}

std::vector<Trouble> troubles_of(const RingReport& ring) { return Troubles(ring).find(); }

}  // namespace tailrace
