#include "config/notation_value.hpp"

#include <grp.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

namespace tailrace {
namespace {

constexpr std::uint32_t kMaxCudaIndex = 127;
constexpr std::uint32_t kMaxShards = 65536;
constexpr std::uint32_t kMinMode = 0600;
constexpr std::uint32_t kMaxMode = 0664;

/// Takes a decimal integer without sign off the front of `text`.
std::optional<std::uint32_t> take_integer(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool unix_group_exists(const std::string& name) {
  std::vector<char> buffer(1024);
  group entry{};
  group* found = nullptr;
  while (getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) == ERANGE &&
         buffer.size() < (1u << 24))
    buffer.resize(buffer.size() * 2);
  return found != nullptr;
}

std::string device_text(const DeviceConfig& device) {
  switch (device.kind) {
    case DeviceConfig::Kind::kAuto:
      return "auto";
    case DeviceConfig::Kind::kCpu:
      return "cpu";
    case DeviceConfig::Kind::kCuda:
      return device.index == 0 ? "cuda" : "cuda:" + std::to_string(device.index);
  }
  return "auto";
}

std::optional<DeviceConfig> parse_device(std::string_view text) {
  if (text == "auto") return DeviceConfig{DeviceConfig::Kind::kAuto, 0};
  if (text == "cpu") return DeviceConfig{DeviceConfig::Kind::kCpu, 0};
  if (text == "cuda") return DeviceConfig{DeviceConfig::Kind::kCuda, 0};
  if (!text.starts_with("cuda:")) return std::nullopt;
  text.remove_prefix(5);
  const auto index = take_integer(text);
  if (!index || !text.empty() || *index > kMaxCudaIndex) return std::nullopt;
  return DeviceConfig{DeviceConfig::Kind::kCuda, static_cast<int>(*index)};
}

std::string octal(std::uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

std::optional<std::uint32_t> parse_octal(std::string_view text) {
  std::uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return mode;
}

}  // namespace

ValueType device_value(const Field<DeviceConfig>& field) {
  const std::string form = "\"auto\", \"cpu\", \"cuda\" or \"cuda:N\"";
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        const auto device = parse_device(text);
        if (!device) return must_be(form) + " with N from 0 to " + std::to_string(kMaxCudaIndex);
        field(scope) = *device;
        return std::nullopt;
      },
      [=](const Scope& scope) { return device_text(field(scope)); });
}

ValueType shard_value(const Field<std::uint32_t>& index, const Field<std::uint32_t>& count) {
  const std::string form = "\"INDEX/COUNT\"";
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        std::string_view rest = text;
        const auto part = take_integer(rest);
        if (!part || !rest.starts_with('/')) return must_be(form) + " such as \"0/4\"";
        rest.remove_prefix(1);
        const auto parts = take_integer(rest);
        if (!parts || !rest.empty()) return must_be(form) + " such as \"0/4\"";
        if (*parts < 1 || *parts > kMaxShards)
          return "must have a COUNT from 1 to " + std::to_string(kMaxShards);
        if (*part >= *parts) return "must have an INDEX below its COUNT: 0 to " + std::to_string(*parts - 1);
        index(scope) = *part;
        count(scope) = *parts;
        return std::nullopt;
      },
      [=](const Scope& scope) { return std::to_string(index(scope)) + "/" + std::to_string(count(scope)); });
}

ValueType mode_value(const Field<std::uint32_t>& field) {
  const std::string form = "octal text, \"0600\" to \"0664\"";
  return text_value(
      form,
      [=](const Scope& scope, const std::string& text) -> Problem {
        const auto mode = parse_octal(text);
        if (!mode) return must_be(form);
        if ((*mode & kMinMode) != kMinMode) return "must let the owner read and write: at least \"0600\"";
        if ((*mode & ~kMaxMode) != 0)
          return "must let nobody execute and no stranger write: at most \"0664\"";
        field(scope) = *mode;
        return std::nullopt;
      },
      [=](const Scope& scope) { return octal(field(scope)); });
}

ValueType unix_group_value(const Field<std::string>& field) {
  return text_value(
      "name of a Unix group",
      [=](const Scope& scope, const std::string& text) -> Problem {
        if (!text.empty() && !unix_group_exists(text))
          return "is no Unix group of this machine (see getent group)";
        field(scope) = text;
        return std::nullopt;
      },
      field);
}

}  // namespace tailrace
