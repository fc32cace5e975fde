#include "shm/housekeeper.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "os/clock.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kRound{50};
constexpr std::uint64_t kCheckEveryNs = 500'000'000;

}  // namespace

Housekeeper::Housekeeper(const Ring& ring, const Participant& participant, Callbacks callbacks)
    : ring_(&ring),
      participant_(&participant),
      callbacks_(std::move(callbacks)),
      janitor_(ring, participant.id(), callbacks_.on_reclaim),
      liveness_(ring),
      quit_(eventfd(0, EFD_CLOEXEC)) {
  if (!quit_) throw std::system_error(errno, std::generic_category(), "eventfd");
  thread_ = std::thread([this] { run(); });
}

Housekeeper::~Housekeeper() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(quit_.get(), &one, sizeof one);
  thread_.join();
}

std::optional<std::string> Housekeeper::damage() const {
  const std::lock_guard lock(damage_mutex_);
  return damage_;
}

std::optional<std::uint64_t> Housekeeper::producer_gone_since_ns() const noexcept {
  const std::uint64_t since = producer_gone_since_ns_;
  return since == 0 ? std::nullopt : std::optional(since);
}

void Housekeeper::run() {
  while (!has_ended(quit_.get(), 0)) do_work(kRound);
}

void Housekeeper::do_work(std::chrono::milliseconds timeout) {
  find_peers();
  std::vector<pollfd> fds{{quit_.get(), POLLIN, 0}};
  for (const Peer& peer : peers_) fds.push_back({peer.pidfd.get(), POLLIN, 0});
  poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  std::vector<Peer> dead;
  for (std::size_t i = peers_.size(); i-- > 0;) {
    if (fds[i + 1].revents == 0) continue;
    dead.push_back(std::move(peers_[i]));
    peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const Peer& peer : dead) bury(peer);
  forget_peers_that_left();
  participant_->record().heartbeat_ns.store(monotonic_ns(), std::memory_order_relaxed);
  check_ring();
}

void Housekeeper::find_peers() {
  bool found_gone = false;
  for (std::uint32_t i = 0; i < kMaxParticipants; ++i) {
    const ParticipantId id{i};
    if (id == participant_->id()) continue;
    const ParticipantRecord& record = ring_->participants()[i];
    const std::uint32_t generation = record.generation.load(std::memory_order_acquire);
    const ProcessIdentity process = identity_of(record);
    if (generation == 0 || process.pid == 0) continue;
    const bool known = std::any_of(peers_.begin(), peers_.end(), [&](const Peer& peer) {
      return peer.id == id && peer.generation == generation;
    });
    if (known) continue;
    ProcessWatch watch = watch_process(process);
    // Without a pidfd (died before it was seen, or lives in another pid namespace) the lock byte tells, and
    // it may come free at any time: a child of the dead one may hold it still. So the question is asked each
    // round.
    if (watch.fate == ProcessFate::kAlive)
      peers_.push_back({id, generation, process, std::move(watch.pidfd)});
    else
      found_gone = true;
  }
  if (found_gone) janitor_.do_work();
}

void Housekeeper::forget_peers_that_left() {
  std::erase_if(peers_, [&](const Peer& peer) {
    const ParticipantRecord& record = ring_->participants()[index_of(peer.id)];
    return record.generation.load(std::memory_order_acquire) != peer.generation ||
           record.pid.load(std::memory_order_acquire) == 0;
  });
}

void Housekeeper::bury(const Peer& peer) {
  janitor_.do_work();
  const ParticipantRecord& record = ring_->participants()[index_of(peer.id)];
  const bool left_in_order = record.pid.load(std::memory_order_acquire) == 0;
  if (left_in_order || record.generation.load(std::memory_order_acquire) != peer.generation) return;
  const PeerDeath death{peer.id, record.role.load(std::memory_order_relaxed), peer.process,
                        liveness_.is_held(peer.id)};
  // One counts for all: every housekeeper sees the same death.
  if (participant_->id() == kProducerId) {
    const GroupId group{record.group.load(std::memory_order_relaxed)};
    if (index_of(group) < ring_->geometry().groups.size()) ring_->group_counters(group).add(Counter::kDeaths);
  }
  if (callbacks_.on_death) callbacks_.on_death(death);
}

void Housekeeper::check_ring() {
  const std::uint64_t now = monotonic_ns();
  const bool producer_here = participant_->id() == kProducerId || liveness_.is_held(kProducerId);
  if (producer_here)
    producer_gone_since_ns_ = 0;
  else if (producer_gone_since_ns_ == 0)
    producer_gone_since_ns_ = now;
  if (now < next_check_ns_) return;
  next_check_ns_ = now + kCheckEveryNs;
  if (!(callbacks_.names_intact ? callbacks_.names_intact() : ring_->names_intact())) names_lost_ = true;
  if (callbacks_.on_check) callbacks_.on_check();
  if (auto damage = ring_->protocol().find_damage(kMaxParticipants)) {
    const std::lock_guard lock(damage_mutex_);
    if (!damage_) damage_ = std::move(damage);
  }
}

}  // namespace tailrace
