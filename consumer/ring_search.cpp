#include "consumer/ring_search.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>
#include <utility>

#include "ledger/job_ledger.hpp"
#include "ledger/ledger.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kWait{100};

std::string no_such_group(const Ring& ring, const std::string& name) {
  std::string there;
  for (const GroupSpec& spec : ring.geometry().groups) there += (there.empty() ? "" : ", ") + spec.name;
  return "the ring has no group '" + name + "' (it has: " + there +
         "); was the producer started with the same file?";
}

}  // namespace

RingSearch::RingSearch(const RingFiles& files, const ConsumerOptions& options, Lifesign& life)
    : files_(&files),
      group_(&options.group.name),
      state_(&options.config.pipeline.state),
      life_(&life),
      stage_(life, "waiting for the ring") {}

std::optional<Place> RingSearch::look() {
  AttachAnswer answer = attach_ring(*files_, RingAccess::kConsumer);
  found_nothing_ = answer.state == AttachState::kAbsent;
  switch (answer.state) {
    case AttachState::kReady:
      return judge(std::move(*answer.ring));
    case AttachState::kIncompatible:
    case AttachState::kTooSmall:
      wait_for_another(answer.detail);
      break;
    case AttachState::kRetired:
      wait("the ring is being replaced");
      break;
    case AttachState::kAbsent:
      wait("there is no ring yet");
      break;
    case AttachState::kInitialising:
      wait(answer.detail);
      break;
  }
  return std::nullopt;
}

std::optional<Place> RingSearch::judge(Ring ring) {
  const auto group = ring.find_group(*group_);
  if (!group) {
    wait_for_another(no_such_group(ring, *group_));
    return std::nullopt;
  }
  // Its rows would say of this ledger's items what became of another's. The producer decides.
  if (ledger_id(*state_) != ring.geometry().ledger_id) {
    wait("the ring belongs to another ledger than " + ledger_path(*state_));
    return std::nullopt;
  }
  return Place{std::move(ring), *group};
}

// What a dead producer left is the next one's to replace, which a moment ago may just have begun.
void RingSearch::wait_for_another(const std::string& fault) {
  misfits_ = find_producer(*files_) ? misfits_ + 1 : 0;
  if (misfits_ > kMaxMisfits) throw RingMismatch(fault);
  wait(fault);
}

void RingSearch::wait(const std::string& reason) {
  if (reason != said_) {
    spdlog::info("waiting for the producer: {}", reason);
    stage_.say("waiting for the ring: " + reason);
  }
  said_ = reason;
  life_->turn();
  std::this_thread::sleep_for(kWait);
}

}  // namespace tailrace
