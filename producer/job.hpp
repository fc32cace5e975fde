#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/model.hpp"
#include "producer/profile/profile_actions.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// What a producer works with; all of it outlives the job.
struct JobParts {
  const Config& config;
  const Source& source;
  Model& model;
  Device& device;
  const ProfileOutputs& outputs;
};

/// Longest reason that a skipped row carries; longer ones are cut.
inline constexpr std::size_t kMaxSkipReasonBytes = 240;

/// What the ring of this job must be like. Throws ModelError where the configured slots are too small, and
/// std::invalid_argument for a Unix group that does not exist.
RingSpec ring_spec_for(const Config& config, const Source& source, const Model& model);

/// How the input of this job is read, beginning with batch `first`.
InputPipelineOptions input_options(const JobParts& parts, BatchNumber first);

/// Number of batches of a source.
std::uint64_t batch_count_of(const Source& source, const SourceConfig& config);

}  // namespace tailrace
