#pragma once

#include <string>
#include <vector>

#include "ctl/ring_report.hpp"

namespace tailrace {

/// How far a trouble goes.
enum class Reach {
  kBatch,  // one process or batch; the others get on
  kReady,  // batches do not travel from the source to every group until somebody or something comes back
  kLive,   // the pipeline does not get on by itself: somebody has to look
};

/// Something that is wrong with a ring.
struct Trouble {
  Reach reach;
  std::string text;  // a sentence: what it is, and what to do
};

/// How long a dead producer may be without a successor before somebody has to look.
inline constexpr double kReplacedWithinS = 30;
/// For how long a process that has not said may be at one unit of work.
inline constexpr double kDefaultProgressLimitS = 300;

/// A process that holds its entry and shows no sign of life: stopped (SIGSTOP), frozen, or swapped out.
bool stands_still(const ParticipantReport& process) noexcept;

/// What is wrong with a ring: damage, processes that are gone, stand still or are stuck, groups without
/// consumers, a batch that takes much longer than usual, storage that refuses. The one set of rules for
/// `status`, `top`, `doctor`, `/livez` and `/readyz`; docs/metrics.md has those of the last two for people.
/// Empty: nothing. A ring that cannot or may not be read has one, one that is being made none. By one
/// look.
std::vector<Trouble> troubles_of(const RingReport& ring);

}  // namespace tailrace
