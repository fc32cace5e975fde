#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "shm/byte_lock.hpp"
#include "shm/participant.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// The exclusive right to be the producer of a pipeline (or to remove its dead ring): a lock on the ring's
/// .lock file.
class ProducerRole {
 public:
  /// Empty: somebody else has it. Throws std::system_error.
  static std::optional<ProducerRole> try_take(const RingFiles& files);
  /// What the present holder wrote about itself, for messages: "pid 123"; "an unknown process".
  static std::string describe_holder(const RingFiles& files);

  /// Removes the ring's names, data and control first, the lock file last. Does nothing if the lock file's
  /// name was lost meanwhile.
  void remove_files() const noexcept;

 private:
  ProducerRole(RingFiles files, ByteLock lock) : files_(std::move(files)), lock_(std::move(lock)) {}

  RingFiles files_;
  ByteLock lock_;
};

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

/// Who holds the producer's role now ("pid 123"); empty: nobody. Takes no lock.
std::optional<std::string> find_producer(const RingFiles& files);

/// Removes the ring of a pipeline whose processes are all dead. Empty: done, or nothing there. Otherwise who
/// holds it.
std::optional<std::string> clean_ring(const RingFiles& files);

}  // namespace tailrace
