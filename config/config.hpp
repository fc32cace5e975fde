#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shm/dtype.hpp"

namespace tailrace {

// The effective configuration of a pipeline: plain values, every path absolute, every default applied,
// everything validated. Sizes in bytes. What a key means, its unit and its range are written once, in
// config/keys.cpp; its default is the initializer here.

struct DeviceConfig {
  enum class Kind { kAuto, kCpu, kCuda };
  Kind kind = Kind::kAuto;
  int index = 0;  // of the CUDA device
};

struct PipelineConfig {
  std::string name = "pipeline";
  DeviceConfig device;
  std::string state;  // folder: dead letters, logs, ledger
};

struct RingConfig {
  std::uint32_t slots = 8;
  std::optional<std::uint64_t> slot_bytes;  // empty = auto: found by running one batch
  std::string directory = "/dev/shm";       // of the data file
  std::uint32_t mode = 0660;
  std::string group;                  // Unix group that may attach; empty = the producer's
  std::chrono::microseconds spin{0};  // busy wait before a futex wait
};

enum class SourceKind { kImages, kArrays, kSynthetic };
enum class ResizeMode { kFit, kFill, kStretch };

struct SourceConfig {
  SourceKind kind = SourceKind::kSynthetic;
  std::string path;  // folder or list file (images), .npy file or folder of them (arrays)
  std::uint32_t batch_size = 64;
  std::uint32_t height = 512;  // `size = [height, width]`
  std::uint32_t width = 512;
  ResizeMode resize = ResizeMode::kFit;
  std::vector<double> mean{0.485, 0.456, 0.406};
  std::vector<double> std{0.229, 0.224, 0.225};
  std::uint32_t workers = 8;
  std::uint32_t prefetch = 2;     // batches
  std::uint32_t shard_index = 0;  // `shard = "index/count"`: items with item % count == index
  std::uint32_t shard_count = 1;
  // synthetic
  std::uint64_t items = 6400;
  std::vector<std::int64_t> shape{3, 512, 512};  // of one item
  Dtype dtype = Dtype::kFloat32;
  bool fixed = false;  // one batch, made once, kept on the device
};

enum class ModelKind { kDeeplabv3Resnet50, kTorchscript, kAoti, kSynthetic };
enum class Precision { kFp32, kTf32, kBf16, kFp16 };

/// Whether a batch's work is launched as one CUDA graph.
enum class CudaGraph { kOff, kOn, kAuto };

struct ModelConfig {
  ModelKind kind = ModelKind::kDeeplabv3Resnet50;
  std::string path;
  Precision precision = Precision::kFp32;
  CudaGraph cuda_graph = CudaGraph::kOff;
  std::vector<std::string> outputs{"out"};
  std::uint32_t classes = 21;  // deeplabv3_resnet50
  std::uint64_t seed = 0;      // of random weights
  // synthetic
  std::vector<std::int64_t> shape{21, 512, 512};  // of one item's output
  Dtype dtype = Dtype::kFloat32;
};

enum class EgressStrategyKind { kInline, kWorkers, kPool, kAsync, kStreams };

/// Whether copies run beside the host's work: what wants a pinned ring.
constexpr bool copies_overlap(EgressStrategyKind strategy) {
  return strategy == EgressStrategyKind::kAsync || strategy == EgressStrategyKind::kStreams;
}

struct EgressConfig {
  EgressStrategyKind strategy = EgressStrategyKind::kStreams;
  std::optional<Dtype> dtype;         // empty = keep what the model gives
  std::chrono::microseconds spin{0};  // busy look at a copy that should end soon, before sleeping
};

enum class SinkKind { kPngMask, kNpy, kNull, kChecksum, kExec };

struct SinkConfig {
  SinkKind kind = SinkKind::kNull;
  std::string path;    // output folder: png_mask, npy
  std::string tensor;  // which output; empty = the first (png_mask) or all (the others)
  // png_mask
  bool original_size = false;
  bool overlay = false;
  // npy
  bool per_batch = false;  // `per = "item" | "batch"`
  bool bf16_raw = false;   // `bf16 = "float32" | "uint16"`
  // exec
  std::vector<std::string> command;      // argv
  std::chrono::milliseconds timeout{0};  // of one batch; 0 = none
};

/// Which items make up a batch shows in the files of this sink.
inline bool keeps_batch_files(const SinkConfig& sink) {
  return sink.kind == SinkKind::kNpy && sink.per_batch;
}

struct GroupConfig {
  std::string name = "main";
  std::uint32_t processes = 1;
  std::uint32_t max_attempts = 3;  // 0 = never quarantine
  bool isolate = false;            // then item by item
  std::chrono::milliseconds progress_limit{300'000};
  SinkConfig sink;
};

enum class LogLevel { kTrace, kDebug, kInfo, kWarning, kError };
enum class JournalMode { kAuto, kOn, kOff };

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  std::string file;  // folder: one file per process; empty = none
  JournalMode journal = JournalMode::kAuto;
};

/// A window that is measured by itself, and that a profiler sees: `profile_steps` batches after
/// `warmup_steps`.
struct ProfileConfig {
  std::uint32_t warmup_steps = 10;
  std::uint32_t profile_steps = 0;  // 0 = no window
  std::uint32_t cooldown_steps = 1;
  std::string trace;   // file of the timeline; empty = none
  std::string report;  // file of the throughput report; empty = none
};

struct Config {
  PipelineConfig pipeline;
  RingConfig ring;
  SourceConfig source;
  ModelConfig model;
  EgressConfig egress;
  std::vector<GroupConfig> groups;  // never empty once loaded
  ProfileConfig profile;
  LogConfig log;
};

inline std::vector<std::string> group_names(const Config& config) {
  std::vector<std::string> names;
  for (const GroupConfig& group : config.groups) names.push_back(group.name);
  return names;
}

}  // namespace tailrace
