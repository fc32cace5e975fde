#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "shm/participant.hpp"
#include "shm/producer_role.hpp"
#include "shm/ring.hpp"
#include "shm/ring_retirement.hpp"
#include "shm/slot_population.hpp"

namespace tailrace {

/// Where the producer has to go on in its ring.
struct StartPoint {
  BatchNumber next{0};  // the first batch that was never published; 0 in a new ring
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

/// The right to be the producer of `pipeline`. Throws RingBusy, with its holder, if somebody has it.
ProducerRole take_role(const RingFiles& files, const std::string& pipeline);

/// The producer's ring: made new, or taken over from a dead predecessor. Member order is teardown order.
class RingOwner {
 public:
  using Progress = RingRetirement::Progress;
  /// Asked while waiting for somebody else; true = give up (RingBusy).
  using ShouldStop = RingRetirement::ShouldStop;

  /// With the producer's role, takes over a ring that fits `spec` (slots may be larger),
  /// replaces one that does not. `progress` gets a line for each thing that takes time or was decided. Throws
  /// RingBusy, RingMismatch, std::system_error (no room, no permission).
  RingOwner(ProducerRole role, const RingSpec& spec, const Progress& progress, const ShouldStop& should_stop);
  /// The same, and takes the role.
  RingOwner(const RingFiles& files, const RingSpec& spec, const Progress& progress,
            const ShouldStop& should_stop)
      : RingOwner(take_role(files, spec.name), spec, progress, should_stop) {}

  [[nodiscard]] const Ring& ring() const noexcept { return *ring_; }
  [[nodiscard]] const Participant& participant() const noexcept { return *participant_; }
  [[nodiscard]] const StartPoint& start() const noexcept { return start_; }
  [[nodiscard]] bool taken_over() const noexcept { return taken_over_; }

  /// Gives the slots their memory, as populate_slots; called once, by the producer's constructing thread,
  /// before its first claim, also of a ring that was taken over. When it throws, a ring that was just made is
  /// removed again, and one that was taken over stays with its batches.
  PopulateReport populate(const PopulateOptions& options, const SlotReady& slot_ready) const;

  /// Nobody removed or replaced one of the three files. Any thread.
  [[nodiscard]] bool names_intact() const noexcept;
  /// The names that lead to these files no more, for messages.
  [[nodiscard]] std::vector<std::filesystem::path> lost_names() const;
  /// Takes a ring whose names were lost out of use: its consumers finish what is published (a group that
  /// nobody works for is not waited for), it becomes RETIRED, everybody leaves. Precondition: nothing is in
  /// flight. The next owner makes a new one. False: `should_stop` said so.
  [[nodiscard]] bool retire(const Progress& progress, const ShouldStop& should_stop) const;

  /// Every batch has been published or was finished before: no later producer goes on with this ring.
  void set_source_at_end() const noexcept;
  /// After the last publish. Consumers that have everything may go.
  void set_finished() const noexcept;
  /// The job is done for all groups, or is not to be continued: the names go away. The mappings stay.
  void remove_files() const noexcept { role_.remove_files(); }

 private:
  void take_over(Ring ring, const Progress& progress);
  static void replace(const Ring& old, const Progress& progress, const ShouldStop& should_stop);
  void create(const RingFiles& files, const RingSpec& spec);

  ProducerRole role_;
  std::unique_ptr<Ring> ring_;  // at one address: participants and queues point to it
  std::optional<Participant> participant_;
  StartPoint start_;
  bool taken_over_ = false;
};

/// Where the next producer of this ring goes on. Precondition: the data is mapped.
StartPoint start_of(const Ring& ring);

}  // namespace tailrace
