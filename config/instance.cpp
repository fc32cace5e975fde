#include "config/instance.hpp"

#include <charconv>

#include "config/text.hpp"

namespace tailrace {
namespace {

constexpr const char* kStateFolder = "/var/lib/tailrace";

}  // namespace

std::optional<Instance> parse_instance(std::string_view text) {
  const auto first = text.find(':');
  const auto second = text.rfind(':');
  if (first == std::string_view::npos || first == second) return std::nullopt;
  Instance instance{std::string(text.substr(0, first)),
                    std::string(text.substr(first + 1, second - first - 1)), 0};
  const std::string_view number = text.substr(second + 1);
  const char* end = number.data() + number.size();
  const auto [parsed, error] = std::from_chars(number.data(), end, instance.number);
  if (error != std::errc{} || parsed != end || !is_name(instance.pipeline) || !is_name(instance.group))
    return std::nullopt;
  return instance;
}

std::string find_config(const std::string& pipeline) {
  return std::string(kServiceDirectory) + "/" + pipeline + ".toml";
}

std::string service_state(const std::string& pipeline) { return std::string(kStateFolder) + "/" + pipeline; }

std::string default_state(const std::filesystem::path& folder, const std::string& pipeline) {
  return folder == kServiceDirectory ? service_state(pipeline) : (folder / ".tailrace" / pipeline).string();
}

std::string target_unit(const std::string& pipeline) { return "tailrace@" + pipeline + ".target"; }

std::string producer_unit(const std::string& pipeline) {
  return "tailrace-producer@" + pipeline + ".service";
}

std::string consumer_unit(const std::string& pipeline, const std::string& group, const std::string& number) {
  return "tailrace-consumer@" + pipeline + ":" + group + ":" + number + ".service";
}

void check_pipeline_name(const LoadedConfig& loaded, const std::string& pipeline) {
  if (loaded.config.pipeline.name == pipeline) return;
  constexpr std::string_view kKey = "pipeline.name";
  for (const EffectiveValue& value : loaded.values)
    if (value.key == kKey)
      throw ConfigError({{value.origin, value.key, value.value,
                          "must be \"" + pipeline +
                              "\": the service is named after its pipeline; change the name in the file, or "
                              "the name of the service and of its file"}});
}

}  // namespace tailrace
