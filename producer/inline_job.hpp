#pragma once

#include "producer/egress/inline.hpp"
#include "producer/job.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// The whole job in one process, without a ring: `handler` post-processes each batch. `plan`: what was to do
/// a moment ago. Returns the exit code.
int run_inline_job(const JobParts& parts, BatchPlan plan, Service& service, InlineEgress::Handler handler);

}  // namespace tailrace
