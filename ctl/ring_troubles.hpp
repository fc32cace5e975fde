#pragma once

#include <string>
#include <vector>

#include "ctl/ring_report.hpp"

namespace tailrace {

/// A process that holds its entry and shows no sign of life: stopped (SIGSTOP), frozen, or swapped out.
bool stands_still(const ParticipantReport& process) noexcept;

/// What is wrong with a ring, one sentence each, with what to do: damage, processes that are gone or stand
/// still, groups without consumers, a batch that takes much longer than usual, storage that refuses. Empty:
/// nothing. A ring that cannot be read has one.
std::vector<std::string> troubles_of(const RingReport& ring);

}  // namespace tailrace
