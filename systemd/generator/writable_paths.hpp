#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace tailrace {

// Which folders the processes of a pipeline write to. Pure functions; absolute paths without a slash at the
// end, those that are not set left out.

/// Of every process, whatever its role: state, logs, the ring's data file.
std::vector<std::string> common_folders(const Config& config);

/// Of a group's sink: its folder, and that of its overlays.
std::vector<std::string> sink_folders(const SinkConfig& sink);

/// Of the files that only the producer writes.
std::vector<std::string> producer_folders(const Config& config);

/// What the producer reads: source and model.
std::vector<std::string> producer_inputs(const Config& config);

/// What must be writable so that a process can make `folders` where they are missing: themselves and the
/// folders that hold them, those left out that are the root or directly below it. Each once.
std::vector<std::string> with_parents(const std::vector<std::string>& folders);

/// Whether `path` is `folder`, or below it.
bool is_within(const std::string& path, const std::string& folder);

}  // namespace tailrace
