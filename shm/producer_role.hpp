#pragma once

#include <optional>
#include <string>

#include "shm/byte_lock.hpp"
#include "shm/ring_files.hpp"

namespace tailrace {

/// The exclusive right to be the producer of a pipeline (or to remove its dead ring): a lock on the ring's
/// .lock file.
class ProducerRole {
 public:
  ProducerRole(ProducerRole&&) noexcept = default;
  ProducerRole& operator=(ProducerRole&&) = delete;
  /// Gives the role back; where there is no ring, its lock file goes, too.
  ~ProducerRole();

  /// Empty: somebody else has it. Throws std::system_error.
  static std::optional<ProducerRole> try_take(const RingFiles& files);
  /// What the present holder wrote about itself, for messages: "pid 123"; "an unknown process".
  static std::string describe_holder(const RingFiles& files);

  [[nodiscard]] const RingFiles& files() const noexcept { return files_; }

  /// False: somebody removed or replaced the lock file; another process may have taken the role.
  [[nodiscard]] bool name_intact() const noexcept;
  /// Removes the ring's names, data and control first, the lock file last. Does nothing if the lock file's
  /// name was lost meanwhile.
  void remove_files() const noexcept;
  /// The lock file, where there is no ring: what the destructor does, for a process that ends without it.
  void remove_unused() const noexcept;
  /// As remove_files(), but the lock file stays, and with it the role.
  void remove_ring() const noexcept;

 private:
  ProducerRole(RingFiles files, ByteLock lock);

  RingFiles files_;
  ByteLock lock_;
};

/// Who holds the producer's role now ("pid 123"); empty: nobody. Takes no lock.
std::optional<std::string> find_producer(const RingFiles& files);

}  // namespace tailrace
