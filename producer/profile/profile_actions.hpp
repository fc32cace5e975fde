#pragma once

#include <functional>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/profile/profile_window.hpp"
#include "producer/trace.hpp"
#include "shm/control_layout.hpp"

namespace tailrace {

/// What a producer does at the borders of the window that it measures: the log line, `profile.report`, the
/// profiler's capture and the timeline. `trace`: null = none. `drain`: until nothing is in flight; false
/// where a stop came in between. Everything outlives the actions.
ProfileWindow::Actions profile_actions(const Config& config, Device& device, TraceRecorder* trace,
                                       const ProducerRecord& producer, std::function<bool()> drain);

}  // namespace tailrace
