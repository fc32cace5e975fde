#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "shm/janitor.hpp"
#include "shm/participant.hpp"
#include "shm/process_identity.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// A participant whose process ended without leaving the ring.
struct PeerDeath {
  ParticipantId id{0};
  Role role = Role::kNone;
  ProcessIdentity process;
  bool lock_still_held = false;  // by a child of it: nothing is reclaimed before that one ends too
};

/// What every participant does beside its work: watches its peers by pidfd and hands on what the dead held,
/// keeps its heartbeat, checks that the ring's names are still there and that no word is damaged. Has a
/// thread of its own; callbacks run in it. Ring and participant outlive it.
class Housekeeper {
 public:
  struct Callbacks {
    Janitor::Report on_reclaim;
    std::function<void(const PeerDeath&)> on_death;
    /// For whose names are more than the ring's own; asked about twice a second.
    std::function<bool()> names_intact{};
    /// For what else a process watches; called as often.
    std::function<void()> on_check{};
  };

  Housekeeper(const Ring& ring, const Participant& participant, Callbacks callbacks);
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;
  ~Housekeeper();

  /// Somebody removed or replaced the ring's files. Any thread.
  [[nodiscard]] bool names_lost() const noexcept { return names_lost_; }
  /// An impossible word, named. Any thread.
  [[nodiscard]] std::optional<std::string> damage() const;
  /// Since when no living process has held the producer's entry; empty: there is one. CLOCK_MONOTONIC. Any
  /// thread.
  [[nodiscard]] std::optional<std::uint64_t> producer_gone_since_ns() const noexcept;

 private:
  struct Peer {
    ParticipantId id{0};
    std::uint32_t generation = 0;
    ProcessIdentity process;
    UniqueFd pidfd;
  };

  void run();
  void do_work(std::chrono::milliseconds timeout);
  void find_peers();
  void forget_peers_that_left();
  void bury(const Peer& peer);
  void check_ring();

  const Ring* ring_;
  const Participant* participant_;
  Callbacks callbacks_;
  Janitor janitor_;
  LockLiveness liveness_;
  std::vector<Peer> peers_;
  std::uint64_t next_check_ns_ = 0;
  std::atomic<bool> names_lost_{false};
  std::atomic<std::uint64_t> producer_gone_since_ns_{0};
  mutable std::mutex damage_mutex_;
  std::optional<std::string> damage_;
  UniqueFd quit_;
  std::thread thread_;
};

}  // namespace tailrace
