#pragma once

#include <functional>

#include "config/config.hpp"
#include "consumer/dead_letter.hpp"
#include "consumer/sinks/checksum_file.hpp"
#include "consumer/sinks/sink.hpp"
#include "shm/descriptor.hpp"
#include "shm/participant.hpp"
#include "shm/ready_queue.hpp"

namespace tailrace {

/// What became of one lease.
enum class BatchOutcome {
  kCommitted,
  kFailed,     // this batch could not be processed: given back with the attempt counted
  kGivenBack,  // the outside refused for longer than patience lasts, or a stop was asked for
};

/// Takes one lease through sink and commit. Used by the consumer's one thread.
class BatchWorker {
 public:
  using ShouldStop = std::function<bool()>;

  BatchWorker(const Ring& ring, GroupId group, const Participant& participant, Sink& sink,
              const DeadLetters& dead_letters, ChecksumFile& checksums, ShouldStop should_stop);

  /// Throws DamagedDescriptor for a slot that no producer wrote. On kGivenBack the reason has been logged.
  BatchOutcome process(Lease lease);

 private:
  BatchOutcome process_with_sink(Lease lease);
  BatchOutcome quarantine(Lease lease);
  bool commit(Lease& lease, const StageStamps& stamps, std::uint64_t items, std::uint64_t bytes);
  /// Tries until the outside (disk, permissions) lets `work` through. False: gave up.
  bool retry_io(const std::function<void()>& work);

  const Ring* ring_;
  GroupId group_;
  const Participant* participant_;
  Sink* sink_;
  const DeadLetters* dead_letters_;
  ChecksumFile* checksums_;
  ShouldStop should_stop_;
};

}  // namespace tailrace
