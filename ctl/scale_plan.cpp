#include "ctl/scale_plan.hpp"

#include <charconv>
#include <sstream>
#include <system_error>

#include "config/instance.hpp"

namespace tailrace {
namespace {

bool runs(const std::string& state) {
  return state == "active" || state == "activating" || state == "reloading";
}

}  // namespace

GroupServices parse_services(std::string_view listing, const std::string& pipeline,
                             const std::string& group) {
  GroupServices services;
  const std::string without_number = consumer_unit(pipeline, group, "");
  const std::string prefix = without_number.substr(0, without_number.rfind('.'));
  std::istringstream lines{std::string(listing)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string unit;
    std::string load;
    std::string active;
    words >> unit >> load >> active;
    if (unit == target_unit(pipeline)) services.pipeline_active = runs(active);
    if (!unit.starts_with(prefix)) continue;
    std::uint32_t number = 0;
    const char* end = unit.data() + unit.size();
    const auto [rest, error] = std::from_chars(unit.data() + prefix.size(), end, number);
    if (error == std::errc{} && std::string_view(rest, end) == ".service") services.states[number] = active;
  }
  return services;
}

ScalePlan plan_scale(const GroupServices& services, std::uint32_t wanted) {
  ScalePlan plan;
  for (auto entry = services.states.rbegin(); entry != services.states.rend(); ++entry)
    if (entry->first < 1 || entry->first > wanted)
      if (runs(entry->second) || entry->second == "deactivating") plan.stop.push_back(entry->first);
  for (std::uint32_t number = 1; services.pipeline_active && number <= wanted; ++number) {
    const auto found = services.states.find(number);
    if (found != services.states.end() && runs(found->second)) continue;
    plan.start.push_back(number);
    if (found != services.states.end() && found->second == "failed") plan.reset_failed.push_back(number);
  }
  return plan;
}

}  // namespace tailrace
