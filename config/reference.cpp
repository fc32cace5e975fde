#include "config/reference.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "config/keys.hpp"

namespace tailrace {
namespace {

/// Of one key, all as text.
struct Entry {
  std::string section;  // "ring", "group.sink"
  std::string name;     // within the section
  std::string value;    // its default
  const Key* key;
  bool used;  // with the other defaults
};

std::vector<Entry> entries() {
  Config config;
  config.groups.emplace_back();
  const std::filesystem::path base;
  const Scope scope{config, config.groups.front(), base};
  std::vector<Entry> all;
  for (const Key& key : all_keys()) {
    const auto dot = key.name.rfind('.');
    all.push_back({std::string(key.name.substr(0, dot)), std::string(key.name.substr(dot + 1)),
                   key.type.render(scope), &key, applies(key, scope)});
  }
  return all;
}

std::string header_of(const std::string& section) {
  return section == "group" ? "[[group]]" : "[" + section + "]";
}

std::string condition_of(const Key& key) {
  std::string values;
  for (const std::string_view value : key.applies.values)
    values += (values.empty() ? "" : " or ") + std::string(value);
  const auto dot = key.applies.key.rfind('.');
  return key.applies.key.empty() ? "" : std::string(key.applies.key.substr(dot + 1)) + " = " + values;
}

/// A `|` would end the cell.
std::string cell(std::string text) {
  for (auto bar = text.find('|'); bar != std::string::npos; bar = text.find('|', bar + 2))
    text.insert(bar, 1, '\\');
  return text;
}

constexpr std::string_view kTomlHead =
    "# Every key of a pipeline with its default. Leave out what should stay as it is; one [[group]] for each "
    "set of\n"
    "# consumers (no group = one as below). A key that starts with # has a meaning only in the case that its "
    "line names.\n"
    "# Made by `tailrace validate --defaults`.\n";

constexpr std::string_view kMarkdownHead =
    "# Configuration\n\n"
    "One TOML file describes a pipeline for all of its processes. Every key has a default; an empty file is "
    "a\n"
    "measurement with synthetic input. `tailrace validate FILE` checks a file, shows each value in effect "
    "and where it\n"
    "came from, and what memory it takes.\n\n"
    "* **Sizes** are bytes, or text with a unit: `\"1.5 GiB\"`, `\"64 MB\"` (B, kB, MB, GB, TB, KiB, MiB, "
    "GiB, TiB).\n"
    "* **Times** are text with a unit: `\"250 ms\"`, `\"5 min\"` (ns, us, ms, s, min, h).\n"
    "* **Paths** start at the file's folder.\n"
    "* **Overrides**: file, then environment (`TAILRACE_RING__SLOTS=16`, "
    "`TAILRACE_GROUP__MASKS__PROCESSES=8`), then\n"
    "  `--set ring.slots=16`, `--set group.masks.processes=8`; later ones win. An environment variable "
    "counts if its\n"
    "  name starts with `TAILRACE_` and contains two underscores in a row.\n"
    "* **Errors** name file, line, column, key and value, all at once; the programs then exit with 78, "
    "before they touch\n"
    "  GPU or shared memory.\n\n"
    "`tailrace validate --json FILE` prints `{\"values\": {KEY: {\"value\", \"origin\": {\"layer\", "
    "\"file\", \"line\",\n"
    "\"column\", \"variable\"}}}, \"memory\": {\"ring_bytes\", \"limits\": [{\"place\", \"there_bytes\", "
    "\"enough\",\n"
    "\"remedy\"}]}}`, or `{\"errors\": [{\"origin\", \"key\", \"value\", \"message\"}]}`; `layer` is "
    "default, file, environment\n"
    "or set; unknown sizes are null.\n\n"
    "This page is made from the programs' own table: `tailrace validate --reference`.\n";

}  // namespace

std::string default_toml() {
  std::string text(kTomlHead);
  std::string section;
  for (const Entry& entry : entries()) {
    if (entry.section != section) text += "\n" + header_of(entry.section) + "\n";
    section = entry.section;
    const std::string condition = condition_of(*entry.key);
    text += "# " + std::string(entry.key->meaning) + "\n";
    text += "# " + (condition.empty() ? "" : "Only with " + condition + ". ") +
            "Value: " + entry.key->type.form + "\n";
    text += (entry.used ? "" : "#") + entry.name + " = " + entry.value + "\n";
  }
  return text;
}

std::string markdown_reference() {
  std::string text(kMarkdownHead);
  std::string section;
  for (const Entry& entry : entries()) {
    if (entry.section != section)
      text += "\n## `" + header_of(entry.section) +
              "`\n\n| key | default | value | meaning |\n|---|---|---|---|\n";
    section = entry.section;
    const std::string condition = condition_of(*entry.key);
    text += "| `" + entry.name + "` | `" + entry.value + "` | " + cell(entry.key->type.form) + " | " +
            cell(std::string(entry.key->meaning)) +
            (condition.empty() ? "" : " Only with " + condition + ".") + " |\n";
  }
  return text;
}

std::string help_text() {
  std::size_t width = 0;
  for (const Entry& entry : entries()) width = std::max(width, entry.key->name.size());
  std::string text = "Keys (default; what it is):\n";
  for (const Entry& entry : entries())
    text += "  " + std::string(entry.key->name) + std::string(width - entry.key->name.size() + 2, ' ') +
            entry.value + "; " + std::string(entry.key->meaning) + "\n";
  return text;
}

}  // namespace tailrace
