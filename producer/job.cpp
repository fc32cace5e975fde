#include "producer/job.hpp"

#include <grp.h>

#include <algorithm>
#include <stdexcept>

#include "producer/egress/tensor_plans.hpp"
#include "producer/errors.hpp"
#include "producer/sources/list_digest.hpp"
#include "producer/upload_queue.hpp"
#include "shm/descriptor.hpp"

namespace tailrace {
namespace {

// What decides about the results of an item, beside the item itself.
std::uint64_t model_digest(const Config& config) {
  ListDigest digest;
  digest.add(config.source.height);
  digest.add(config.source.width);
  digest.add(static_cast<std::uint64_t>(config.source.resize));
  digest.add(static_cast<std::uint64_t>(config.model.kind));
  digest.add(config.model.path);
  digest.add(config.model.classes);
  digest.add(config.model.seed);
  digest.add(static_cast<std::uint64_t>(config.model.precision));
  for (const std::string& output : config.model.outputs) digest.add(output);
  digest.add(static_cast<std::uint64_t>(config.model.dtype));
  for (const std::int64_t size : config.model.shape) digest.add(static_cast<std::uint64_t>(size));
  digest.add(config.egress.dtype ? static_cast<std::uint64_t>(*config.egress.dtype) : 0);
  return digest.value();
}

// What decides about the bytes of batch k: a ring whose digest differs holds other batches.
std::uint64_t job_digest(const Config& config, const Source& source) {
  ListDigest digest;
  digest.add(source.digest());
  digest.add(config.source.batch_size);
  digest.add(config.source.shard_index);
  digest.add(config.source.shard_count);
  digest.add(model_digest(config));
  return digest.value();
}

gid_t group_id_of(const std::string& name) {
  const group* entry = getgrnam(name.c_str());  // NOLINT(concurrency-mt-unsafe): called before other threads
  if (entry == nullptr) throw std::invalid_argument("ring.group: there is no Unix group '" + name + "'");
  return entry->gr_gid;
}

}  // namespace

RingFiles files_of(const Config& config) { return {config.pipeline.name, config.ring.directory}; }

ItemMap item_map_of(const Source& source, const SourceConfig& config) {
  if (source.item_count() > kMaxItems)
    throw std::invalid_argument("the source has " + std::to_string(source.item_count()) +
                                " items; a job can have " + std::to_string(kMaxItems) +
                                " at most: split it with source.shard");
  return {source.item_count(), config.batch_size, config.shard_index, config.shard_count};
}

JobIdentity job_identity(const Config& config, const Source& source) {
  const bool fixed_batches =
      std::any_of(config.groups.begin(), config.groups.end(),
                  [](const GroupConfig& group) { return keeps_batch_files(group.sink); });
  return {config.pipeline.name,
          source.digest(),
          model_digest(config),
          item_map_of(source, config.source),
          fixed_batches,
          {},
          {}};
}

InputPipelineOptions input_options(const JobParts& parts, const BatchPlan& plan, BatchNumber first) {
  const SourceConfig& source = parts.config.source;
  return {source.batch_size,
          source.workers,
          source.prefetch,
          static_cast<std::uint32_t>(UploadQueue::held(parts.device)),
          first,
          &plan};
}

RingSpec ring_spec_for(const JobParts& parts, const BatchPlan& plan) {
  const Config& config = parts.config;
  const std::uint64_t needed =
      slot_bytes_needed(config.source.batch_size, parts.source.max_name_bytes() + kMaxSkipReasonBytes,
                        tensor_plans(parts.model.probed_outputs()));
  if (config.ring.slot_bytes && *config.ring.slot_bytes < needed)
    throw ModelError("ring.slot_bytes is " + std::to_string(*config.ring.slot_bytes) +
                     ", but a batch of this model takes " + std::to_string(needed) +
                     " bytes; raise it, or leave it \"auto\"");
  RingSpec spec;
  spec.name = config.pipeline.name;
  spec.slot_count = config.ring.slots;
  spec.slot_bytes = config.ring.slot_bytes.value_or(needed);
  for (const GroupConfig& group : config.groups) spec.groups.push_back({group.name, group.max_attempts});
  spec.job_digest = job_digest(config, parts.source);
  spec.items = plan.items();
  spec.finished_before = plan.finished_items();
  spec.ledger_id = parts.record.ledger_id();
  spec.mode = config.ring.mode;
  if (!config.ring.group.empty()) spec.group = group_id_of(config.ring.group);
  return spec;
}

}  // namespace tailrace
