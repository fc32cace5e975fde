#include "producer/sources/output_names.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <unordered_map>

namespace tailrace {
namespace {

// How much of a name its output name keeps; from kHashed on, the level is also the seed of the hash.
constexpr std::uint32_t kStem = 0;
constexpr std::uint32_t kFullName = 1;
constexpr std::uint32_t kHashed = 2;

std::string hash_suffix(std::string_view text, std::uint64_t seed = 0) {
  char buffer[18];
  std::snprintf(buffer, sizeof buffer, "-%016llx",
                static_cast<unsigned long long>(XXH3_64bits_withSeed(text.data(), text.size(), seed)));
  return buffer;
}

bool continues_utf8_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

std::string shortened(const std::string& component) {
  if (component.size() <= kMaxOutputComponentBytes) return component;
  const std::string hash = hash_suffix(component);
  std::size_t end = kMaxOutputComponentBytes - hash.size();
  for (int step = 0; step < 3 && continues_utf8_character(component[end]); ++step) --end;
  return component.substr(0, end) + hash;
}

std::string safe_component(std::string_view component) {
  if (component == "..") return "__";
  std::string safe(component);
  std::replace(safe.begin(), safe.end(), '\0', '_');
  return safe;
}

struct SafePath {
  std::string folder;  // empty, or ends with '/'
  std::string leaf;
};

SafePath safe_path(std::string_view name) {
  SafePath path;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('/'), name.size());
    const std::string_view component = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (component.empty() || component == ".") continue;
    if (!path.leaf.empty()) path.folder.append(shortened(path.leaf)).append("/");
    path.leaf = safe_component(component);
  }
  if (path.leaf.empty()) path.leaf.push_back('_');
  return path;
}

std::string stem_of(const std::string& leaf) {
  const std::size_t dot = leaf.rfind('.');
  if (dot == std::string::npos) return leaf;
  const std::string stem = leaf.substr(0, dot);
  const bool usable = !stem.empty() && stem != "." && stem != "..";
  return usable ? stem : leaf;
}

std::string candidate(std::string_view name, std::uint32_t level, std::uint64_t occurrence) {
  SafePath path = safe_path(name);
  if (level == kStem) path.leaf = stem_of(path.leaf);
  if (level >= kHashed) path.leaf += hash_suffix(name, level);
  if (occurrence > 1) path.leaf.append("~").append(std::to_string(occurrence));
  return path.folder + shortened(path.leaf);
}

class NameTable {
 public:
  explicit NameTable(std::span<const std::string> names) : items_(names.size()), outputs_(names.size()) {
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto [entry, is_new] = known.try_emplace(names[i], names_.size());
      if (is_new) names_.push_back({.text = names[i]});
      items_[i] = {.name = entry->second, .occurrence = ++names_[entry->second].count};
    }
  }

  std::vector<std::string> resolve() {
    while (assign() > 0) {
    }
    return std::move(outputs_);
  }

 private:
  struct Name {
    std::string_view text;
    std::uint64_t count = 0;
    std::uint32_t level = kStem;
    bool stale = true;  // its outputs were made for a lower level
    bool raise = false;
  };
  struct Item {
    std::size_t name = 0;
    std::uint64_t occurrence = 0;
  };
  // Who wants one output name: how many items, and the lowest level among them.
  struct Claim {
    std::uint64_t count = 0;
    std::uint32_t lowest = UINT32_MAX;
  };

  // One round: every item claims its name; of those that meet, the ones with the lowest level are raised, so
  // that an extension that was kept for a reason stays. All are raised at once, hence the order of items is
  // of no matter. Returns how many names were raised.
  std::size_t assign() {
    std::unordered_map<std::string_view, Claim> claims;
    claims.reserve(items_.size());
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Name& name = names_[items_[i].name];
      if (name.stale) outputs_[i] = candidate(name.text, name.level, items_[i].occurrence);
      Claim& claim = claims[outputs_[i]];
      ++claim.count;
      claim.lowest = std::min(claim.lowest, name.level);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      Name& name = names_[items_[i].name];
      const Claim& claim = claims[outputs_[i]];
      if (claim.count > 1 && claim.lowest == name.level) name.raise = true;
    }
    return raise();
  }

  std::size_t raise() {
    std::size_t raised = 0;
    for (Name& name : names_) {
      name.stale = name.raise;
      if (name.raise) {
        ++name.level;
        ++raised;
      }
      name.raise = false;
    }
    return raised;
  }

  std::vector<Name> names_;  // distinct
  std::vector<Item> items_;
  std::vector<std::string> outputs_;
};

static_assert(kFullName == kStem + 1 && kHashed == kFullName + 1, "levels are raised one by one");

}  // namespace

std::vector<std::string> output_names(std::span<const std::string> names) {
  return NameTable(names).resolve();
}

}  // namespace tailrace
