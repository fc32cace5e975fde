#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"

namespace tailrace {

/// An attempt at a batch that failed.
struct Failure {
  std::string group;
  std::uint64_t batch = 0;
  std::uint32_t attempt = 1;
  std::int64_t pid = 0;
  std::string what;  // "died", or why the batch could not be processed
};

/// How a process of the pipeline ended, as its parent saw it.
struct Death {
  std::int64_t pid = 0;
  std::string role;
  std::string ended;  // "was ended by signal 9"
};

// What goes wrong is written down for people: nothing is decided by it. Each call opens the ledger by itself,
// from any thread, and gives up (LedgerError, EBUSY) when another process holds it for more than a second.

void note_failure(const std::string& state_folder, const Failure& failure);
void note_death(const std::string& state_folder, const Death& death);

/// The failed attempts at a batch, oldest first; where somebody saw how the process ended, `what` says so.
std::vector<Failure> failures_of(const std::string& state_folder, const std::string& group,
                                 std::uint64_t batch);
std::vector<Failure> failures_of(const Ledger& ledger, const std::string& group, std::uint64_t batch);

}  // namespace tailrace
