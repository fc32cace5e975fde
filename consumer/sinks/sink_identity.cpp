#include "consumer/sinks/sink_identity.hpp"

#include <optional>
#include <string_view>

#include "os/io_error.hpp"

namespace tailrace {
namespace {

std::string command_text(const std::vector<std::string>& words) {
  std::string text = "the program";
  for (const std::string& word : words) text += " " + in_quotes(word);
  return text;
}

std::string what_makes_results(const SinkConfig& sink) {
  switch (sink.kind) {
    case SinkKind::kPngMask:
      return "png_mask in " + in_quotes(sink.path) + (sink.original_size ? " (original size)" : "") +
             (sink.overlay ? " with overlays" : "");
    case SinkKind::kNpy:
      return "npy in " + in_quotes(sink.path) + (sink.per_batch ? " (a file for each batch)" : "") +
             (sink.bf16_raw ? " (bfloat16 as uint16)" : "");
    case SinkKind::kNull:
      return "null";
    case SinkKind::kChecksum:
      return "checksum";
    case SinkKind::kExec:
      return command_text(sink.command);
  }
  return {};
}

/// `path` relative to `folder` and without `suffix`; empty: it is not such a file.
std::optional<std::string> name_below(std::string_view path, std::string_view folder,
                                      std::string_view suffix) {
  if (!path.starts_with(folder) || !path.ends_with(suffix)) return std::nullopt;
  path.remove_prefix(folder.size());
  if (!path.starts_with('/') || path.size() <= suffix.size() + 1) return std::nullopt;
  return std::string(path.substr(1, path.size() - 1 - suffix.size()));
}

std::vector<std::string> names_of_masks(const SinkConfig& sink, const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files)
    for (const std::string& folder : {sink.path, sink.path + "-overlay"})
      if (auto name = name_below(file, folder, ".png")) names.push_back(std::move(*name));
  return names;
}

/// Where an item has several files, each lies in the folder of its tensor.
std::vector<std::string> names_of_arrays(const SinkConfig& sink, const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) {
    auto name = name_below(file, sink.path, ".npy");
    if (!name) continue;
    if (files.size() > 1) name->erase(0, name->find('/') + 1);
    names.push_back(std::move(*name));
  }
  return names;
}

std::vector<std::string> output_names_of(const SinkConfig& sink, const std::vector<std::string>& files) {
  if (sink.kind == SinkKind::kPngMask) return names_of_masks(sink, files);
  if (sink.kind == SinkKind::kNpy && !sink.per_batch) return names_of_arrays(sink, files);
  return {};
}

}  // namespace

GroupSink identity_of(const GroupConfig& group) {
  const std::string tensor =
      group.sink.tensor.empty() ? "" : " of the output " + in_quotes(group.sink.tensor);
  return {
      group.name, what_makes_results(group.sink) + tensor,
      [sink = group.sink](const std::vector<std::string>& files) { return output_names_of(sink, files); }};
}

}  // namespace tailrace
