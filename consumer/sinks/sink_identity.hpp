#pragma once

#include "config/config.hpp"
#include "ledger/job_ledger.hpp"

namespace tailrace {

/// What the ledger has to know of a group's sink. Pure.
[[nodiscard]] GroupSink identity_of(const GroupConfig& group);

}  // namespace tailrace
