#pragma once

#include <cstdint>
#include <memory>

#include "config/config.hpp"
#include "consumer/sinks/sink.hpp"

namespace tailrace {

/// Height and width in pixels; 0 = not known.
struct ImageSize {
  std::int32_t height = 0;
  std::int32_t width = 0;
};

/// Size of what the model sees of an item; unknown where the source has no images.
ImageSize model_input_size(const SourceConfig& source);

/// Creates and probes the output folder, or finds the program of `exec` (throws FileError), before anything
/// is leased; temporary files of dead processes are removed there. Throws std::runtime_error where this build
/// lacks what the sink needs. `model_input`: model_input_size(), in which Row::content is measured; where it
/// is not known, the input is taken to be as large as the output. Has the process ignore SIGXFSZ (sinks that
/// write files) or SIGPIPE (`exec`), so that both come as errors.
std::unique_ptr<Sink> make_sink(const SinkConfig& config, ImageSize model_input = {});

}  // namespace tailrace
