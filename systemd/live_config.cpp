#include "systemd/live_config.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <sstream>
#include <string_view>
#include <utility>

#include "config/text.hpp"
#include "systemd/log.hpp"

namespace tailrace {
namespace {

bool is_in(std::string_view key, std::string_view section) { return key.starts_with(section); }

KeyEffect effect_on_producer(std::string_view key) {
  if (key == "log.level" || key == "ring.spin" || key == "egress.spin") return KeyEffect::kLive;
  const bool of_consumers = key.ends_with(".processes") || key.ends_with(".progress_limit");
  return is_in(key, "group.") && of_consumers ? KeyEffect::kNone : KeyEffect::kRestart;
}

KeyEffect effect_on_consumer(std::string_view key, const std::string& group) {
  const std::string own = "group." + group + ".";
  if (key == "log.level" || key == "ring.spin" || key == own + "progress_limit") return KeyEffect::kLive;
  if (is_in(key, own))
    return key == own + "processes" || key == own + "max_attempts" ? KeyEffect::kNone : KeyEffect::kRestart;
  const bool concerns = is_in(key, "log.") || key == "pipeline.name" || key == "pipeline.state" ||
                        key == "ring.directory" || key == "source.kind" || key == "source.size";
  return concerns ? KeyEffect::kRestart : KeyEffect::kNone;
}

const EffectiveValue* find(const std::vector<EffectiveValue>& values, const std::string& key) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const EffectiveValue& v) { return v.key == key; });
  return found == values.end() ? nullptr : &*found;
}

std::vector<std::string> changed_keys(const std::vector<EffectiveValue>& before,
                                      const std::vector<EffectiveValue>& now) {
  std::vector<std::string> keys;
  for (const EffectiveValue& value : now) {
    const EffectiveValue* old = find(before, value.key);
    if (old == nullptr || old->value != value.value) keys.push_back(value.key);
  }
  for (const EffectiveValue& value : before)
    if (find(now, value.key) == nullptr) keys.push_back(value.key);
  return keys;
}

}  // namespace

KeyEffect effect_of(const std::string& key, const ProcessName& name) {
  return name.group.empty() ? effect_on_producer(key) : effect_on_consumer(key, name.group);
}

LiveConfig::LiveConfig(const LoadedConfig& first, Load load, const ProcessName& name)
    : load_(std::move(load)), name_(name), values_(first.values) {
  apply(first.config);
}

void LiveConfig::apply(const Config& config) {
  // relaxed: each value stands for itself
  ring_spin_ns_.store(std::chrono::nanoseconds(config.ring.spin).count(), std::memory_order_relaxed);
  egress_spin_ns_.store(std::chrono::nanoseconds(config.egress.spin).count(), std::memory_order_relaxed);
  for (const GroupConfig& group : config.groups)
    if (group.name == name_.group)
      progress_limit_ns_.store(std::chrono::nanoseconds(group.progress_limit).count(),
                               std::memory_order_relaxed);
}

void LiveConfig::reload() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    const LoadedConfig now = load_();
    compare(now);
  } catch (const std::exception& error) {
    std::istringstream lines(error.what());
    for (std::string line; std::getline(lines, line);) spdlog::error("{}", line);
    spdlog::error("the configuration was not read again; the values from before stay");
  }
}

void LiveConfig::compare(const LoadedConfig& now) {
  std::vector<std::string> live;
  std::vector<std::string> restart;
  for (const std::string& key : changed_keys(values_, now.values)) {
    const KeyEffect effect = effect_of(key, name_);
    if (effect == KeyEffect::kLive) live.push_back(key);
    if (effect == KeyEffect::kRestart) restart.push_back(key);
  }
  apply(now.config);
  set_log_level(now.config.log.level);
  for (EffectiveValue& value : values_)
    if (const EffectiveValue* changed = find(now.values, value.key);
        changed != nullptr && effect_of(value.key, name_) == KeyEffect::kLive)
      value = *changed;
  if (!live.empty()) spdlog::info("the configuration was read again; changed: {}", joined(live));
  if (!restart.empty())
    spdlog::warn("changed in the configuration, but in effect only after a restart: {}", joined(restart));
  if (live.empty() && restart.empty()) spdlog::info("the configuration was read again; nothing has changed");
}

}  // namespace tailrace
