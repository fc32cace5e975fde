#include "ctl/ring_troubles.hpp"

#include <algorithm>

#include "config/exit_codes.hpp"
#include "ctl/figures_text.hpp"

namespace tailrace {
namespace {

constexpr double kSilent_s = 5;  // heartbeats come each 50 ms
constexpr double kLongLease_s = 30;
constexpr double kUsualLeases = 20;  // so many times the usual time of a batch is long
constexpr double kLongStep_s = 60;   // of a producer in the model

std::string pid_text(const ParticipantReport& process) { return "pid " + std::to_string(process.pid); }

std::string still_text(const std::string& who, const ParticipantReport& process) {
  return who + " (" + pid_text(process) + ") has not moved for " + span_text(process.heartbeat_age_s) +
         ": stopped, frozen or swapped out? `kill -CONT " + std::to_string(process.pid) +
         "` wakes a stopped one";
}

// The last one's, where none has published since.
std::string exit_text(const RingReport& ring) {
  if (!ring.failed_producer) return {};
  const std::uint32_t code = ring.failed_producer->exit_code;
  return " with exit code " + std::to_string(code) + (code == kExitGpu ? " (GPU error)" : "");
}

std::string absence_text(const RingReport& ring) {
  const std::string remedy = ": its log says why; the next one goes on where it was";
  if (ring.failed_producer)
    return "the producer ended" + exit_text(ring) + " " + span_text(ring.failed_producer->age_s) + " ago" +
           remedy;
  if (ring.producer)
    return "the producer (" + pid_text(*ring.producer) + ") died " +
           span_text(ring.producer->heartbeat_age_s) + " ago" + remedy;
  return "no producer: start the pipeline again, it goes on where it was";
}

void check_producer(const RingReport& ring, std::vector<std::string>& troubles) {
  const bool over =
      ring.state == RingState::kFinished &&
      std::all_of(ring.groups.begin(), ring.groups.end(), [](const auto& group) { return group.done; });
  if (!ring.producer || !ring.producer->alive) {
    if (!over && !ring.role_held) troubles.push_back(absence_text(ring));
    return;
  }
  const ParticipantReport& producer = *ring.producer;
  if (stands_still(producer))
    troubles.push_back(still_text("the producer", producer));
  else if (producer.activity == name_of(Activity::kCompute) && producer.activity_age_s > kLongStep_s)
    troubles.push_back("the producer (" + pid_text(producer) + ") has been at one batch in the model for " +
                       span_text(producer.activity_age_s) + ": see its log and the device's (nvidia-smi)");
}

void check_consumer(const ParticipantReport& consumer, std::vector<std::string>& troubles) {
  const std::string who = "consumer " + std::to_string(consumer.id) + " of group " + consumer.group;
  if (!consumer.alive) return;
  if (stands_still(consumer)) troubles.push_back(still_text(who, consumer));
  if (consumer.activity == name_of(Activity::kRetrying))
    troubles.push_back(who + " (" + pid_text(consumer) + ") cannot store its batch and tries again, for " +
                       span_text(consumer.activity_age_s) + " now: its log names the path and the reason");
}

void check_group(const RingReport& ring, const GroupReport& group, std::vector<std::string>& troubles) {
  const bool has_consumer =
      std::any_of(ring.consumers.begin(), ring.consumers.end(),
                  [&](const ParticipantReport& c) { return c.alive && c.group == group.name; });
  if (!has_consumer && !group.done)
    troubles.push_back("group " + group.name + " has no consumer: start one (`tailrace scale " + ring.name +
                       ":" + group.name + " 1`)");
  const double usual_s = get(group.stages, Stage::kSink).mean_s();
  if (group.oldest_lease && group.oldest_lease->age_s > std::max(kLongLease_s, kUsualLeases * usual_s))
    troubles.push_back("pid " + std::to_string(group.oldest_lease->pid) + " of group " + group.name +
                       " has had slot " + std::to_string(group.oldest_lease->slot) + " for " +
                       span_text(group.oldest_lease->age_s) +
                       (usual_s > 0 ? " (usual: " + span_text(usual_s) + ")" : "") +
                       ": see its log; killing it gives the batch to another consumer");
}

}  // namespace

bool stands_still(const ParticipantReport& process) noexcept {
  return process.alive && process.heartbeat_age_s > kSilent_s;
}

std::vector<std::string> troubles_of(const RingReport& ring) {
  if (!ring.readable()) return {"the ring cannot be read: " + ring.detail};
  std::vector<std::string> troubles;
  if (ring.damage)
    troubles.push_back("damaged: " + *ring.damage + "; stop the pipeline, `tailrace clean " + ring.name +
                       "`, start it again");
  check_producer(ring, troubles);
  for (const ParticipantReport& consumer : ring.consumers) check_consumer(consumer, troubles);
  for (const GroupReport& group : ring.groups) check_group(ring, group, troubles);
  return troubles;
}

}  // namespace tailrace
