#pragma once

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/egress/inline.hpp"
#include "producer/model.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// The whole job in one process, without a ring: `handler` post-processes each batch. Returns the exit code.
int run_inline_job(const Config& config, const Source& source, Model& model, Device& device,
                   StopSignals& signals, InlineEgress::Handler handler);

}  // namespace tailrace
