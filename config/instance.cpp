#include "config/instance.hpp"

#include <charconv>

#include "config/text.hpp"

namespace tailrace {

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

std::string find_config(const Instance& instance) { return "/etc/tailrace/" + instance.pipeline + ".toml"; }

}  // namespace tailrace
