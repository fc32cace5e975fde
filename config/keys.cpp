#include "config/keys.hpp"

#include <algorithm>
#include <chrono>

#include "config/array_value.hpp"
#include "config/notation_value.hpp"
#include "config/service_scale.hpp"
#include "config/text.hpp"
#include "shm/item_map.hpp"

namespace tailrace {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kKiB = 1u << 10;
constexpr std::uint64_t kTiB = 1ull << 40;
constexpr std::uint64_t kMaxSeed = (1ull << 63) - 1;
constexpr std::size_t kMaxItemRank = 31;  // and one dimension for the batch
constexpr std::size_t kMaxOutputs = 32;
constexpr std::size_t kMaxArguments = 256;

std::vector<Choice<Dtype>> dtype_choices() {
  std::vector<Choice<Dtype>> choices;
  choices.reserve(kDtypes.size());
  for (const DtypeInfo& info : kDtypes) choices.push_back({std::string(info.name), info.dtype, ""});
  return choices;
}

std::vector<Choice<std::optional<Dtype>>> egress_dtype_choices() {
  std::vector<Choice<std::optional<Dtype>>> choices{{"keep", std::nullopt, ""}};
  for (const DtypeInfo& info : kDtypes) choices.push_back({std::string(info.name), info.dtype, ""});
  return choices;
}

std::vector<Key> pipeline_keys() {
  return {
      {"pipeline.name",
       name_value(at(&Config::pipeline, &PipelineConfig::name)),
       "Name of the pipeline: of its ring, services, log lines and metrics.",
       {}},
      {"pipeline.device",
       device_value(at(&Config::pipeline, &PipelineConfig::device)),
       "Where the model runs; auto takes the first GPU, or the CPU where there is none.",
       {}},
      {"pipeline.state",
       path_value(at(&Config::pipeline, &PipelineConfig::state)),
       "Folder of ledger, dead letters and logs, on a local file system; empty = .tailrace/NAME beside this "
       "file, /var/lib/tailrace/NAME where that is in /etc/tailrace.",
       {}},
  };
}

std::vector<Key> ring_keys() {
  return {
      {"ring.slots",
       integer_value(at(&Config::ring, &RingConfig::slots), 1, 1024),
       "Output buffers in shared memory: how many batches may wait for consumers.",
       {}},
      {"ring.slot_bytes",
       size_or_auto_value(at(&Config::ring, &RingConfig::slot_bytes), kKiB, kTiB),
       "Size of one slot, rounded up to 2 MiB; auto = found by running one batch.",
       {}},
      {"ring.directory",
       path_value(at(&Config::ring, &RingConfig::directory)),
       "Folder of the ring's data file, in memory (tmpfs, hugetlbfs).",
       {}},
      {"ring.mode",
       mode_value(at(&Config::ring, &RingConfig::mode)),
       "Permissions of the ring's files; the data file gets them without group write.",
       {}},
      {"ring.group",
       unix_group_value(at(&Config::ring, &RingConfig::group)),
       "Unix group that may attach; empty = the producer's.",
       {}},
      {"ring.spin",
       duration_value(at(&Config::ring, &RingConfig::spin), 0s, 1s),
       "How long a waiting process looks busily before it sleeps.",
       {}},
  };
}

std::vector<Key> source_keys() {
  const Condition files{"source.kind", {"images", "arrays"}};
  const Condition images{"source.kind", {"images"}};
  const Condition synthetic{"source.kind", {"synthetic"}};
  return {
      {"source.kind",
       choice_value(at(&Config::source, &SourceConfig::kind), {{"images", SourceKind::kImages, ""},
                                                               {"arrays", SourceKind::kArrays, ""},
                                                               {"synthetic", SourceKind::kSynthetic, ""}}),
       "Where items come from: image files, rows of .npy files, or made on the spot for measuring.",
       {}},
      {"source.path", path_value(at(&Config::source, &SourceConfig::path)),
       "Images: a folder, or a file that lists them; arrays: a .npy file, or a folder of them.", files},
      {"source.batch_size",
       integer_value(at(&Config::source, &SourceConfig::batch_size), 1, 65536),
       "Items that go through the model together.",
       {}},
      {"source.size",
       image_size_value(at(&Config::source, &SourceConfig::height), at(&Config::source, &SourceConfig::width),
                        16384),
       "What every image is brought to.", images},
      {"source.resize",
       choice_value(at(&Config::source, &SourceConfig::resize), {{"fit", ResizeMode::kFit, ""},
                                                                 {"fill", ResizeMode::kFill, ""},
                                                                 {"stretch", ResizeMode::kStretch, ""}}),
       "How: fit pads, fill crops, stretch changes the proportions.", images},
      {"source.mean", colour_value(at(&Config::source, &SourceConfig::mean), false),
       "Subtracted from the colours (0 to 1).", images},
      {"source.std", colour_value(at(&Config::source, &SourceConfig::std), true),
       "What the colours are then divided by.", images},
      {"source.workers",
       integer_value(at(&Config::source, &SourceConfig::workers), 1, 256),
       "Threads that decode.",
       {}},
      {"source.prefetch",
       integer_value(at(&Config::source, &SourceConfig::prefetch), 1, 64),
       "Batches that are decoded ahead.",
       {}},
      {"source.shard",
       shard_value(at(&Config::source, &SourceConfig::shard_index),
                   at(&Config::source, &SourceConfig::shard_count)),
       "This pipeline's part of the items: those whose number modulo COUNT is INDEX.",
       {}},
      {"source.items", integer_value(at(&Config::source, &SourceConfig::items), 1, kMaxItems),
       "How many items are made.", synthetic},
      {"source.shape", shape_value(at(&Config::source, &SourceConfig::shape), kMaxItemRank), "Of one item.",
       synthetic},
      {"source.dtype", choice_value(at(&Config::source, &SourceConfig::dtype), dtype_choices()),
       "Element type of the items.", synthetic},
      {"source.fixed", boolean_value(at(&Config::source, &SourceConfig::fixed)),
       "One batch, made once and kept on the device: measures everything but the input.", synthetic},
  };
}

std::vector<Key> model_keys() {
  const Condition loaded{"model.kind", {"deeplabv3_resnet50", "torchscript", "aoti"}};
  const Condition seeded{"model.kind", {"deeplabv3_resnet50", "synthetic"}};
  const Condition synthetic{"model.kind", {"synthetic"}};
  return {
      {"model.kind",
       choice_value(at(&Config::model, &ModelConfig::kind),
                    {{"deeplabv3_resnet50", ModelKind::kDeeplabv3Resnet50, ""},
                     {"torchscript", ModelKind::kTorchscript, ""},
                     {"aoti", ModelKind::kAoti, "use \"torchscript\""},
                     {"synthetic", ModelKind::kSynthetic, ""}}),
       "The model: a built-in network, a TorchScript file, or only outputs of a shape.",
       {}},
      {"model.path", path_value(at(&Config::model, &ModelConfig::path)),
       "File of the model, or of the built-in network's weights; empty = random weights.", loaded},
      {"model.precision",
       choice_value(at(&Config::model, &ModelConfig::precision), {{"fp32", Precision::kFp32, ""},
                                                                  {"tf32", Precision::kTf32, ""},
                                                                  {"bf16", Precision::kBf16, ""},
                                                                  {"fp16", Precision::kFp16, ""}}),
       "What it computes in.", loaded},
      {"model.cuda_graph",
       choice_value(
           at(&Config::model, &ModelConfig::cuda_graph),
           {{"off", CudaGraph::kOff, ""}, {"on", CudaGraph::kOn, ""}, {"auto", CudaGraph::kAuto, ""}}),
       "Launch a batch's work as one CUDA graph, which helps small models; auto = where it is faster, "
       "measured at "
       "start.",
       loaded},
      {"model.outputs",
       strings_value(at(&Config::model, &ModelConfig::outputs), kMaxOutputs, true),
       "Names of the outputs that go into the ring.",
       {}},
      {"model.classes",
       integer_value(at(&Config::model, &ModelConfig::classes), 1, 65536),
       "Channels of the network's output.",
       {"model.kind", {"deeplabv3_resnet50"}}},
      {"model.seed", integer_value(at(&Config::model, &ModelConfig::seed), 0, kMaxSeed), "Of random weights.",
       seeded},
      {"model.shape", shape_value(at(&Config::model, &ModelConfig::shape), kMaxItemRank),
       "Of one item's output.", synthetic},
      {"model.dtype", choice_value(at(&Config::model, &ModelConfig::dtype), dtype_choices()),
       "Element type of the output.", synthetic},
  };
}

std::vector<Key> egress_keys() {
  return {
      {"egress.strategy",
       choice_value(at(&Config::egress, &EgressConfig::strategy),
                    {{"inline", EgressStrategyKind::kInline, ""},
                     {"workers", EgressStrategyKind::kWorkers, ""},
                     {"pool", EgressStrategyKind::kPool, ""},
                     {"async", EgressStrategyKind::kAsync, ""},
                     {"streams", EgressStrategyKind::kStreams, ""}}),
       "How a batch leaves the GPU: inline = sinks run in the producer; workers = copied, while the producer "
       "waits, into memory made anew for each batch; pool = the same into memory that is kept; async = the "
       "ring "
       "is pinned and copied into beside the host's work; streams = also beside the model's.",
       {}},
      {"egress.dtype",
       choice_value(at(&Config::egress, &EgressConfig::dtype), egress_dtype_choices()),
       "Element type that outputs are converted to on the device; keep = as the model gives them.",
       {}},
      {"egress.spin",
       duration_value(at(&Config::egress, &EgressConfig::spin), 0s, 1s),
       "How long the producer looks busily for the end of a copy, around the time that it expects it.",
       {}},
  };
}

std::vector<Key> group_keys() {
  const Condition masks{"group.sink.kind", {"png_mask"}};
  const Condition arrays{"group.sink.kind", {"npy"}};
  const Condition programs{"group.sink.kind", {"exec"}};
  return {
      {"group.name",
       name_value(in_group(&GroupConfig::name)),
       "Name of the group of consumers; every group gets every batch.",
       {}},
      {"group.processes",
       integer_value(in_group(&GroupConfig::processes), 0, kMaxScale),
       "Consumers that `tailrace run` starts, and services at first; 0 = only programs of your own.",
       {}},
      {"group.max_attempts",
       integer_value(in_group(&GroupConfig::max_attempts), 0, 30),
       "Deliveries of a batch before it is set aside; 0 = never set aside.",
       {}},
      {"group.isolate",
       boolean_value(in_group(&GroupConfig::isolate)),
       "Instead of setting a whole batch aside, do it item by item, and set aside only the items that fail "
       "alone.",
       {}},
      {"group.progress_limit",
       duration_value(in_group(&GroupConfig::progress_limit), 1s, 24h),
       "A consumer that works longer on one batch counts as stuck: its supervisor kills it.",
       {}},
      {"group.sink.kind",
       choice_value(in_sink(&SinkConfig::kind), {{"png_mask", SinkKind::kPngMask, ""},
                                                 {"npy", SinkKind::kNpy, ""},
                                                 {"null", SinkKind::kNull, ""},
                                                 {"checksum", SinkKind::kChecksum, ""},
                                                 {"exec", SinkKind::kExec, ""}}),
       "What becomes of a batch: class masks, arrays, /dev/null, checksums, or a program's input.",
       {}},
      {"group.sink.path",
       path_value(in_sink(&SinkConfig::path)),
       "Folder of the files that come out.",
       {"group.sink.kind", {"png_mask", "npy"}}},
      {"group.sink.tensor",
       string_value(in_sink(&SinkConfig::tensor)),
       "Name of the output to use; empty = the first (png_mask), or all.",
       {}},
      {"group.sink.original_size", boolean_value(in_sink(&SinkConfig::original_size)),
       "Masks in the size of the image that was read.", masks},
      {"group.sink.overlay", boolean_value(in_sink(&SinkConfig::overlay)),
       "Also write a coloured picture for people.", masks},
      {"group.sink.per",
       choice_value(in_sink(&SinkConfig::per_batch), {{"item", false, ""}, {"batch", true, ""}}),
       "One file for each item, or for each batch.", arrays},
      {"group.sink.bf16",
       choice_value(in_sink(&SinkConfig::bf16_raw), {{"float32", false, ""}, {"uint16", true, ""}}),
       "NumPy has no bfloat16: widened to float32, or the raw bits as uint16.", arrays},
      {"group.sink.command", strings_value(in_sink(&SinkConfig::command), kMaxArguments, false),
       "Program and its arguments; it reads a JSON header and the bytes on stdin, exit 0 commits.", programs},
      {"group.sink.timeout", duration_value(in_sink(&SinkConfig::timeout), 0s, 24h),
       "How long the program may take for a batch; 0 = no limit.", programs},
  };
}

std::vector<Key> profile_keys() {
  return {
      {"profile.warmup_steps",
       integer_value(at(&Config::profile, &ProfileConfig::warmup_steps), 0, 1'000'000),
       "Batches before the window that is measured.",
       {}},
      {"profile.profile_steps",
       integer_value(at(&Config::profile, &ProfileConfig::profile_steps), 0, 1'000'000),
       "Batches in the window, which begins and ends with nothing in flight; 0 = the whole run is measured.",
       {}},
      {"profile.cooldown_steps",
       integer_value(at(&Config::profile, &ProfileConfig::cooldown_steps), 0, 1'000'000),
       "Batches after the window before a profiler is stopped.",
       {}},
      {"profile.trace",
       path_value(at(&Config::profile, &ProfileConfig::trace)),
       "File for a timeline of the window (JSON, for Perfetto); empty = none.",
       {}},
      {"profile.report",
       path_value(at(&Config::profile, &ProfileConfig::report)),
       "File for the throughput report (JSON); empty = only in the log.",
       {}},
  };
}

std::vector<Key> log_keys() {
  return {
      {"log.level",
       choice_value(at(&Config::log, &LogConfig::level), {{"trace", LogLevel::kTrace, ""},
                                                          {"debug", LogLevel::kDebug, ""},
                                                          {"info", LogLevel::kInfo, ""},
                                                          {"warning", LogLevel::kWarning, ""},
                                                          {"error", LogLevel::kError, ""}}),
       "The least important lines that are still written.",
       {}},
      {"log.file",
       path_value(at(&Config::log, &LogConfig::file)),
       "A folder: one file per process, rotated; empty = none.",
       {}},
      {"log.journal",
       choice_value(
           at(&Config::log, &LogConfig::journal),
           {{"auto", JournalMode::kAuto, ""}, {"on", JournalMode::kOn, ""}, {"off", JournalMode::kOff, ""}}),
       "Write to the systemd journal; auto = where stderr is connected to it.",
       {}},
  };
}

}  // namespace

const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys = [] {
    std::vector<Key> all;
    for (auto section :
         {pipeline_keys, ring_keys, source_keys, model_keys, egress_keys, group_keys, profile_keys, log_keys})
      for (Key& key : section()) all.push_back(std::move(key));
    return all;
  }();
  return keys;
}

const Key* find_key(std::string_view name) {
  const auto key =
      std::find_if(all_keys().begin(), all_keys().end(), [&](const Key& k) { return k.name == name; });
  return key == all_keys().end() ? nullptr : &*key;
}

bool applies(const Key& key, const Scope& scope) {
  if (key.applies.key.empty()) return true;
  const std::string found = find_key(key.applies.key)->type.render(scope);
  return std::any_of(key.applies.values.begin(), key.applies.values.end(),
                     [&](std::string_view value) { return quote(value) == found; });
}

}  // namespace tailrace
