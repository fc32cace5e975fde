#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "ledger/job_ledger.hpp"
#include "producer/batch_plan.hpp"
#include "producer/device.hpp"
#include "producer/input_pipeline.hpp"
#include "producer/job_record.hpp"
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
  JobRecord& record;
};

/// Longest reason that a skipped row carries; longer ones are cut.
inline constexpr std::size_t kMaxSkipReasonBytes = 240;

/// What the ring of this job must be like. Throws ModelError where the configured slots are too small, and
/// std::invalid_argument for a Unix group that does not exist.
RingSpec ring_spec_for(const JobParts& parts, const BatchPlan& plan);

/// How the input of this job is read, beginning with batch `first`.
/// `plan` outlives the pipeline.
InputPipelineOptions input_options(const JobParts& parts, const BatchPlan& plan, BatchNumber first);

/// Which items of the source make up which batch.
ItemMap item_map_of(const Source& source, const SourceConfig& config);

/// The names of the pipeline's ring.
RingFiles files_of(const Config& config);

/// What the ledger has to know of the job.
JobIdentity job_identity(const Config& config, const Source& source);

}  // namespace tailrace
