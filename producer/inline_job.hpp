#pragma once

#include "producer/egress/inline.hpp"
#include "producer/job.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// The whole job in one process, without a ring: `handler` post-processes each batch. Returns the exit code.
int run_inline_job(const JobParts& parts, StopSignals& signals, InlineEgress::Handler handler);

}  // namespace tailrace
