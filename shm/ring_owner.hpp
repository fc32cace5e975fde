#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "shm/participant.hpp"
#include "shm/producer_role.hpp"
#include "shm/ring.hpp"
#include "shm/slot_population.hpp"

namespace tailrace {

/// Where the source has to go on.
struct StartPoint {
  BatchNumber next{0};  // the first batch that was never published
  BatchSeq next_seq{1};
};

/// Another producer holds the role.
class RingBusy : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// There is a ring that must not be reused and must not be thrown away either; the message says what to do.
class RingMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The producer's ring: made new, or taken over from a dead predecessor. Member order is teardown order.
class RingOwner {
 public:
  using Progress = std::function<void(const std::string&)>;
  /// Asked while waiting for somebody else; true = give up (RingBusy).
  using ShouldStop = std::function<bool()>;

  /// Takes the role (RingBusy at once if held), takes over a ring that fits `spec` (slots may be larger),
  /// replaces one that does not. `progress` gets a line for each thing that takes time or was decided. Throws
  /// RingBusy, RingMismatch, std::system_error (no room, no permission).
  RingOwner(const RingFiles& files, const RingSpec& spec, const Progress& progress,
            const ShouldStop& should_stop);

  [[nodiscard]] const Ring& ring() const noexcept { return *ring_; }
  [[nodiscard]] const Participant& participant() const noexcept { return *participant_; }
  [[nodiscard]] const StartPoint& start() const noexcept { return start_; }
  [[nodiscard]] bool taken_over() const noexcept { return taken_over_; }

  /// Gives the slots their memory, as populate_slots; called once, by the producer's constructing thread,
  /// before its first claim, also of a ring that was taken over. When it throws, a ring that was just made is
  /// removed again, and one that was taken over stays with its batches.
  PopulateReport populate(const PopulateOptions& options, const SlotReady& slot_ready) const;

  /// After the last publish of a finite job. Consumers that have everything may go.
  void set_finished() const noexcept;
  /// The job is done for all groups, or is not to be continued: the names go away. The mappings stay.
  void remove_files() const noexcept { role_.remove_files(); }

 private:
  void take_over(Ring ring, const Progress& progress);
  void replace(Ring& old, const RingSpec& spec, const Progress& progress, const ShouldStop& should_stop);
  void create(const RingFiles& files, const RingSpec& spec);

  ProducerRole role_;
  std::unique_ptr<Ring> ring_;  // at one address: participants and queues point to it
  std::optional<Participant> participant_;
  StartPoint start_;
  bool taken_over_ = false;
};

/// Where the next producer of this ring goes on. Precondition: the data is mapped.
StartPoint start_of(const Ring& ring);

/// Removes the ring of a pipeline whose processes are all dead. Empty: done, or nothing there. Otherwise who
/// holds it.
std::optional<std::string> clean_ring(const RingFiles& files);

}  // namespace tailrace
