#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace tailrace {

/// What this machine lets a process have. Empty = no limit, or unknown.
struct MemoryFacts {
  std::optional<std::uint64_t> directory_free_bytes;  // of the file system of ring.directory
  std::optional<std::uint64_t> cgroup_limit_bytes;    // the smallest memory.max from this process's cgroup up
  std::optional<std::uint64_t> memlock_bytes;         // RLIMIT_MEMLOCK, where it binds this process
  bool cuda_device = false;                           // an NVIDIA device file is there
};

MemoryFacts read_memory_facts(const std::string& ring_directory);

/// One place that the ring's memory has to come from.
struct MemoryCheck {
  std::string place;                         // "ring.directory", "cgroup memory", "locked memory"
  std::optional<std::uint64_t> there_bytes;  // empty = no limit, or unknown
  std::string remedy;                        // empty = enough, or not to be told yet
};

/// Bytes of the data file: its header and all slots, each rounded up to 2 MiB; empty while ring.slot_bytes is
/// "auto".
std::optional<std::uint64_t> ring_bytes(const RingConfig& ring);

/// What there is to say against the folder of the ring's data file; empty: nothing.
std::optional<std::string> directory_warning(const std::string& ring_directory);

/// Compares need and limits. Locked memory counts where the ring will be pinned for a GPU.
std::vector<MemoryCheck> check_memory(const Config& config, const MemoryFacts& facts);

}  // namespace tailrace
