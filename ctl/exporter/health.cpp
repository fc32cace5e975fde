#include "ctl/exporter/health.hpp"

#include <utility>

#include "ctl/ring_troubles.hpp"

namespace tailrace {
namespace {

/// What keeps a ring from being ready although nothing is wrong.
std::vector<std::string> passing_states(const RingReport& ring) {
  if (!ring.readable() && ring.attach == AttachState::kInitialising) return {"the ring is being made"};
  if (!ring.readable()) return {};
  std::vector<std::string> states;
  if (ring.state == RingState::kRetired) states.emplace_back("the ring is about to be replaced");
  if (ring.drain_requested) states.emplace_back("it drains");
  if (ring.has_living_producer() && ring.producer->batches == 0)
    states.emplace_back("the producer has not published anything yet");
  if (!ring.has_living_producer() && ring.role_held) states.emplace_back("the producer is starting");
  if (!ring.has_living_producer() && !ring.role_held && ring.is_over()) states.emplace_back("all is done");
  return states;
}

}  // namespace

Health judge(const RingReport& ring) {
  Health health;
  for (const Trouble& trouble : troubles_of(ring)) {
    if (trouble.reach == Reach::kLive) health.not_live.push_back(trouble.text);
    if (trouble.reach != Reach::kBatch) health.not_ready.push_back(trouble.text);
  }
  for (std::string& state : passing_states(ring)) health.not_ready.push_back(std::move(state));
  return health;
}

}  // namespace tailrace
