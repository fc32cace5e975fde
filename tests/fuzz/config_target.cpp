// A configuration: the text of the file, then --set arguments and environment variables (those that begin
// with TAILRACE_), each after a record separator.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "config/reference.hpp"
#include "config/text.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace::fuzzing {
namespace {

constexpr char kSeparator = '\x1e';
constexpr std::size_t kMaxLineBytes = 4096;  // the reader's

struct Input {
  std::string text;
  std::vector<std::string> overrides;
  std::vector<std::string> environment;
};

Input parse(std::string_view bytes) {
  Input input;
  std::size_t end = std::min(bytes.find(kSeparator), bytes.size());
  input.text = bytes.substr(0, end);
  while (end < bytes.size()) {
    bytes.remove_prefix(end + 1);
    end = std::min(bytes.find(kSeparator), bytes.size());
    const std::string entry(bytes.substr(0, end));
    (entry.starts_with("TAILRACE_") ? input.environment : input.overrides).push_back(entry);
  }
  return input;
}

/// The values in effect as a file of their own; empty where a value is longer than a line may be.
std::string file_of(const LoadedConfig& loaded) {
  std::string text;
  std::string group;
  std::size_t group_count = 0;
  std::string common;
  for (const EffectiveValue& value : loaded.values) {
    const bool of_group = value.key.starts_with(kGroupPrefix);
    std::string key = value.key;
    if (of_group) {
      key = key.substr(kGroupPrefix.size());
      const std::size_t dot = key.find('.');
      if (key.substr(dot) == ".name") {
        text += "[[group]]\n";
        group = key.substr(0, dot);
        ++group_count;
      }
      require(key.substr(0, dot) == group, "a group's keys stand together");
      key = key.substr(dot + 1);
    }
    const std::string line = key + " = " + value.value + "\n";
    if (line.size() > kMaxLineBytes) return {};
    (of_group ? text : common) += line;
  }
  require(group_count == loaded.config.groups.size(), "every group has a name");
  return common + text;
}

void check_loaded(const LoadedConfig& loaded, const TempFolder& folder) {
  require(!loaded.config.groups.empty(), "there is a group");
  for (const EffectiveValue& value : loaded.values)
    require(nlohmann::json::accept(value.value), value.key + " is JSON: " + value.value);
  const std::string text = file_of(loaded);
  if (text.empty()) return;
  const LoadedConfig again = load_config(folder.write("again.toml", text).string());
  require(again.values.size() == loaded.values.size(), "the same keys have a meaning");
  for (std::size_t i = 0; i < again.values.size(); ++i)
    if (again.values[i].key != loaded.values[i].key || again.values[i].value != loaded.values[i].value)
      require(false, loaded.values[i].key + " = " + loaded.values[i].value + " is read back as " +
                         again.values[i].value);
}

void check_error(const ConfigError& error) {
  require(!error.errors().empty(), "an error says what is wrong");
  for (const ConfigIssue& issue : error.errors()) {
    require(!issue.message.empty(), "an issue has a message");
    const std::string text = to_text(issue);
    const bool is_one_line = std::all_of(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
    if (!is_one_line) require(false, "an issue is one line: " + text);
  }
}

std::string shortened_key(std::string_view name) { return std::string(name.substr(name.rfind('.') + 1)); }

}  // namespace

bool run_one(std::span<const std::byte> bytes) {
  static const TempFolder folder;
  const Input input = parse(text_of(bytes));
  const std::string path = folder.write("pipeline.toml", input.text).string();
  std::optional<LoadedConfig> loaded;
  try {
    loaded = load_config(path, input.overrides, input.environment);
  } catch (const ConfigError& error) {
    check_error(error);
    return false;
  }
  try {
    check_loaded(*loaded, folder);
  } catch (const ConfigError& error) {
    require(false, std::string("what is in effect cannot be read again: ") + error.what());
  }
  return true;
}

std::vector<std::string> seeds() {
  const std::string two_groups = R"(
[pipeline]
name = "seg"
[ring]
slots = 16
slot_bytes = "1.5 GiB"
spin = "20 us"
[[group]]
name = "masks"
processes = 4
sink = { kind = "npy", path = "out" }
[[group]]
name = "sums"
progress_limit = "5 min"
sink.kind = "checksum"
)";
  const std::string images = R"(
[source]
kind = "images"
path = "."
size = [8, 9]
mean = [0, 1e-7, -2.5]
shard = "1/4"
[model]
kind = "synthetic"
outputs = ["a\n", "\u00e9"]
[egress]
strategy = "inline"
)";
  const std::string program = R"(
[[group]]
sink = { kind = "exec", command = ["true", "a b"], timeout = "90 s" }
)";
  const std::string log = R"(
log = { level = "debug", journal = "off" }
profile.profile_steps = 3
)";
  return {"",
          default_toml(),
          two_groups,
          images,
          program + "\x1egroup.main.processes=2\x1eTAILRACE_RING__SLOTS=4\x1epipeline.name=x",
          log + "\x1eTAILRACE_LOG__LEVEL=error"};
}

std::vector<std::string> dictionary() {
  std::vector<std::string> words{"[[group]]\n", " = ", "\n", "\"", "{ ", " }", "[", "]", "\\u0000", "\x1e"};
  for (const Key& key : all_keys()) {
    words.push_back(shortened_key(key.name) + " = ");
    words.push_back(kSeparator + std::string(key.name) + "=");
    if (!key.applies.key.empty())
      for (const std::string_view value : key.applies.values)
        words.push_back(shortened_key(key.applies.key) + " = " + quote(value));
  }
  return words;
}

}  // namespace tailrace::fuzzing
