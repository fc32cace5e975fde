#pragma once

#include <functional>
#include <memory>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/profile/profile_file.hpp"
#include "producer/profile/profile_window.hpp"
#include "producer/trace.hpp"
#include "shm/control_layout.hpp"

namespace tailrace {

/// Where a measurement goes, besides the log; null: nowhere. Made, and with it checked, before the model is
/// loaded.
struct ProfileOutputs {
  std::unique_ptr<ProfileFile> report;
  std::unique_ptr<TraceRecorder> trace;
};

/// What a producer does at the borders of the window that it measures: the log line, the report, the
/// profiler's capture and the timeline. `drain`: until nothing is in flight; false where a stop came in
/// between. Everything outlives the actions.
ProfileWindow::Actions profile_actions(const Config& config, Device& device, const ProfileOutputs& outputs,
                                       const ProducerRecord& producer, std::function<bool()> drain);

}  // namespace tailrace
