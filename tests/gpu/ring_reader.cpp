#include "tests/gpu/ring_reader.hpp"

#include <stdexcept>

#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

constexpr GroupId kGroup{0};
constexpr std::chrono::milliseconds kWait{100};

Participant join(const Ring& ring) {
  auto participant = Participant::join(ring, kGroup);
  if (!participant) throw std::runtime_error("the ring has no place for one more consumer");
  return std::move(*participant);
}

}  // namespace

std::optional<Ring> wait_for_ring(const RingFiles& files, const std::function<bool()>& producer_ended) {
  std::optional<Ring> ring;
  (void)eventually([&] {
    AttachAnswer answer = attach_ring(files, RingAccess::kConsumer);
    if (answer.state == AttachState::kReady) ring = std::move(answer.ring);
    return ring || producer_ended();
  });
  return ring;
}

RingReader::RingReader(Ring ring, const std::string& state)
    : ring_(std::move(ring)),
      participant_(join(ring_)),
      janitor_(ring_, participant_.id(), {}),
      queue_(ring_, kGroup, participant_, janitor_, std::chrono::nanoseconds(0)),
      ledger_(Ledger::open(state), ring_.geometry().groups.front().name) {}

void RingReader::hand_over(Lease lease, const Look& look) {
  const BatchView batch = read_descriptor(lease.bytes());
  look(batch);
  std::vector<ItemRecord> records(batch.rows.size());
  for (std::size_t row = 0; row < records.size(); ++row) records[row].item = batch.rows[row].item;
  ledger_.record(records);
  if (!lease.commit()) throw std::logic_error("a lease was taken away from its living holder");
}

void RingReader::read_published(const Look& look) {
  for (Lease lease; queue_.try_lease(lease) == LeaseOutcome::kLeased;) hand_over(std::move(lease), look);
}

bool RingReader::read_to_end(const Look& look, const std::function<bool()>& producer_ended) {
  for (;;) {
    const bool ended = producer_ended();  // before the look: what it published last is still found
    Lease lease;
    switch (queue_.wait_lease(lease, kWait)) {
      case LeaseOutcome::kLeased:
        hand_over(std::move(lease), look);
        break;
      case LeaseOutcome::kFinished:
        return true;
      case LeaseOutcome::kRetired:
        return false;
      case LeaseOutcome::kEmpty:
        if (ended) return false;
        break;
    }
  }
}

}  // namespace tailrace
