#include "config/consistency.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "config/quantities.hpp"
#include "config/text.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBatchBytes = 1ull << 40;

fs::file_status status_of(const std::string& path) {
  std::error_code ignored;  // not_found and unknown are all that is looked at
  return fs::status(path, ignored);
}

/// Of a `kind` ("file ", "" = anything) that is not at `path`, for all that this process can see.
std::string absence(const std::string& kind, const std::string& path) {
  std::error_code error;
  if (!fs::status_known(fs::status(path, error)))
    return "user " + std::to_string(geteuid()) + " cannot look at " + quote(path) + ": " + error.message();
  return "there is no " + kind + quote(path);
}

/// With symbolic links resolved as far as the path exists.
fs::path resolved(const std::string& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  if (error) real = fs::path(path).lexically_normal();
  return real.has_filename() ? real : real.parent_path();
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

bool writes_files(const SinkConfig& sink) {
  return sink.kind == SinkKind::kPngMask || sink.kind == SinkKind::kNpy;
}

std::string condition_text(const Draft& draft, const Key& key, std::size_t group) {
  std::string values;
  for (const std::string_view value : key.applies.values)
    values += (values.empty() ? "" : " or ") + quote(value);
  return draft.display_name(key.applies.key, group) + " = " + values;
}

/// A key without meaning here is a slip, unless the key that took its meaning away was overridden on purpose.
void check_applicable(Draft& draft, const Key& key, std::size_t group) {
  if (key.applies.key.empty() || applies(key, draft.scope(group))) return;
  const Draft::Setting setting = draft.setting(key.name, group);
  const Draft::Setting controller = draft.setting(key.applies.key, group);
  if (setting.origin.layer == Origin::Layer::kDefault || setting.origin.layer < controller.origin.layer)
    return;
  const Key& controller_key = *find_key(key.applies.key);
  draft.contradiction({key.name, key.applies.key}, group,
                      "only has a meaning with " + condition_text(draft, key, group) + ", but that is " +
                          controller_key.type.render(draft.scope(group)) + ": remove one of the two");
}

void check_folder(Draft& draft, std::string_view key, std::size_t group, const std::string& path) {
  const fs::file_status status = status_of(path);
  if (!path.empty() && fs::exists(status) && !fs::is_directory(status))
    draft.contradiction({key}, group, "must be a folder; " + quote(path) + " is something else");
}

/// Bytes of one batch; empty if that is more than anything can hold.
bool batch_fits(std::uint64_t batch_size, const std::vector<std::int64_t>& shape, Dtype dtype) {
  std::uint64_t bytes = batch_size * info_of(dtype).bytes;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > kMaxBatchBytes / bytes) return false;
    bytes *= static_cast<std::uint64_t>(size);
  }
  return true;
}

void check_source(Draft& draft) {
  const SourceConfig& source = draft.config().source;
  if (source.kind == SourceKind::kSynthetic) {
    if (!batch_fits(source.batch_size, source.shape, source.dtype))
      draft.contradiction({"source.shape", "source.batch_size", "source.dtype"}, 0,
                          "a batch of " + std::to_string(source.batch_size) + " such items is larger than " +
                              size_text(kMaxBatchBytes));
    return;
  }
  if (source.path.empty())
    draft.contradiction(
        {draft.setting("source.path").value.empty() ? "source.kind" : "source.path", "source.path"}, 0,
        "needs source.path: where the items are");
  else if (!fs::exists(status_of(source.path)))
    draft.contradiction({"source.path", "source.kind"}, 0, absence("", source.path));
}

void check_model(Draft& draft) {
  const ModelConfig& model = draft.config().model;
  if (model.kind == ModelKind::kSynthetic) {
    if (!batch_fits(draft.config().source.batch_size, model.shape, model.dtype))
      draft.contradiction({"model.shape", "model.dtype", "source.batch_size"}, 0,
                          "outputs for a batch of " + std::to_string(draft.config().source.batch_size) +
                              " are larger than " + size_text(kMaxBatchBytes));
  } else if (model.kind == ModelKind::kTorchscript && model.path.empty()) {
    draft.contradiction({"model.kind", "model.path"}, 0, "needs model.path: the file of the model");
  } else if (!model.path.empty() && !fs::is_regular_file(status_of(model.path))) {
    draft.contradiction({"model.path", "model.kind"}, 0, absence("file ", model.path));
  }
  const auto& outputs = model.outputs;
  if (outputs.empty() || std::find(outputs.begin(), outputs.end(), "") != outputs.end())
    draft.contradiction({"model.outputs"}, 0, "must name at least one output, and none with an empty name");
}

void check_command(Draft& draft, std::size_t group, std::vector<std::string>& command) {
  if (command.empty() || command.front().empty()) {
    draft.contradiction({"group.sink.kind", "group.sink.command"}, group,
                        "needs a command: the program to run");
    return;
  }
  std::string& program = command.front();
  if (program.find('/') == std::string::npos) return;  // looked up in PATH by the process that runs it
  program = (draft.base() / program).lexically_normal().string();
  if (fs::is_regular_file(status_of(program)) && access(program.c_str(), X_OK) != 0)
    draft.contradiction({"group.sink.command"}, group, quote(program) + " is not executable: chmod +x");
  else if (!fs::is_regular_file(status_of(program)))
    draft.contradiction({"group.sink.command"}, group, absence("program ", program));
}

void check_sink(Draft& draft, std::size_t group) {
  const Config& config = draft.config();
  const SinkConfig& sink = config.groups[group].sink;
  if (writes_files(sink) && sink.path.empty())
    draft.contradiction({"group.sink.kind", "group.sink.path"}, group,
                        "needs a path: the folder of its files");
  if (sink.kind == SinkKind::kExec) check_command(draft, group, draft.config().groups[group].sink.command);
  if (sink.original_size && sink.kind == SinkKind::kPngMask && config.source.kind != SourceKind::kImages)
    draft.contradiction({"group.sink.original_size", "source.kind"}, group,
                        "needs source.kind = \"images\": other items have no original size");
  const bool too_many_classes =
      config.model.kind == ModelKind::kDeeplabv3Resnet50 && config.model.classes > 256;
  if (sink.kind == SinkKind::kPngMask && too_many_classes)
    draft.contradiction(
        {"group.sink.kind", "model.classes"}, group,
        "an 8-bit mask holds 256 classes; model.classes is " + std::to_string(config.model.classes));
  if (writes_files(sink)) check_folder(draft, "group.sink.path", group, sink.path);
}

void check_group(Draft& draft, std::size_t group) {
  const Config& config = draft.config();
  const GroupConfig& self = config.groups[group];
  if (config.egress.strategy == EgressStrategyKind::kInline && self.processes != 1)
    draft.contradiction({"group.processes", "egress.strategy"}, group,
                        "must be 1 with egress.strategy = \"inline\": sinks run in the producer");
  for (std::size_t other = 0; other < group; ++other)
    if (config.groups[other].name == self.name)
      draft.contradiction({"group.name"}, group,
                          "two groups have this name; the other is number " + std::to_string(other + 1));
  if (self.isolate && self.max_attempts == 0)
    draft.contradiction({"group.isolate", "group.max_attempts"}, group,
                        "has no meaning with max_attempts = 0: nothing is ever set aside");
  if (self.isolate && keeps_batch_files(self.sink))
    draft.contradiction({"group.isolate", "group.sink.per"}, group,
                        "needs a file for each item: with per = \"batch\" one file holds the whole batch");
  check_sink(draft, group);
}

std::vector<fs::path> folders_of(const SinkConfig& sink) {
  std::vector<fs::path> folders{resolved(sink.path)};
  if (sink.kind == SinkKind::kPngMask && sink.overlay)
    folders.emplace_back(folders.front().native() + "-overlay");
  return folders;
}

/// Two groups that write the same names would overwrite each other; files beside the input would be input
/// next time.
void check_output_folder(Draft& draft, std::size_t group) {
  const Config& config = draft.config();
  const SinkConfig& sink = config.groups[group].sink;
  if (!writes_files(sink) || sink.path.empty()) return;
  const fs::path folder = resolved(sink.path);
  for (std::size_t other = 0; other < group; ++other) {
    const SinkConfig& earlier = config.groups[other].sink;
    if (earlier.kind != sink.kind || earlier.path.empty()) continue;
    const auto taken = folders_of(earlier);
    const auto wanted = folders_of(sink);
    if (std::find_first_of(taken.begin(), taken.end(), wanted.begin(), wanted.end()) != taken.end())
      draft.contradiction({"group.sink.path", "group.sink.kind"}, group,
                          "the group " + config.groups[other].name + " writes files of the same kind there");
  }
  const SourceConfig& source = config.source;
  if (source.kind == SourceKind::kSynthetic || !fs::is_directory(status_of(source.path))) return;
  if (is_inside(folder, resolved(source.path)))
    draft.contradiction({"group.sink.path", "group.sink.kind", "source.path", "source.kind"}, group,
                        "lies in source.path: what comes out would be read as input by the next run");
}

void check_profile_file(Draft& draft, std::string_view key, const std::string& path) {
  if (path.empty()) return;
  if (!fs::is_directory(status_of(fs::path(path).parent_path().string())))
    draft.contradiction({key}, 0, absence("folder ", fs::path(path).parent_path().string()));
  else if (const fs::file_status status = status_of(path); fs::exists(status) && !fs::is_regular_file(status))
    draft.contradiction({key}, 0, "must be a file; " + quote(path) + " is something else");
}

void check_profile(Draft& draft) {
  const ProfileConfig& profile = draft.config().profile;
  if (!profile.trace.empty() && profile.profile_steps == 0)
    draft.contradiction({"profile.trace", "profile.profile_steps"}, 0,
                        "needs profile.profile_steps: the timeline of a whole run would be too large");
  if (!profile.trace.empty() && profile.trace == profile.report)
    draft.contradiction({"profile.report", "profile.trace"}, 0,
                        "is also profile.trace: one would replace the other");
  check_profile_file(draft, "profile.trace", profile.trace);
  check_profile_file(draft, "profile.report", profile.report);
}

void check_ring(Draft& draft) {
  const RingConfig& ring = draft.config().ring;
  if (!fs::is_directory(status_of(ring.directory)))
    draft.contradiction({"ring.directory"}, 0, absence("folder ", ring.directory));
}

}  // namespace

void check_consistency(Draft& draft) {
  const std::size_t group_count = draft.config().groups.size();
  for (const Key& key : all_keys())
    for (std::size_t group = 0; group < (key.of_group() ? group_count : 1); ++group)
      check_applicable(draft, key, group);
  check_folder(draft, "pipeline.state", 0, draft.config().pipeline.state);
  check_folder(draft, "log.file", 0, draft.config().log.file);
  check_ring(draft);
  check_profile(draft);
  check_source(draft);
  check_model(draft);
  for (std::size_t group = 0; group < group_count; ++group) {
    check_group(draft, group);
    check_output_folder(draft, group);
  }
}

}  // namespace tailrace
