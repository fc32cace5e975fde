#include "ctl/interval.hpp"

#include <cmath>

namespace tailrace {
namespace {

constexpr double kMostS = 3600;

}  // namespace

CLI::Option* add_interval(CLI::App& command, double& seconds, double least_s,
                          const std::string& description) {
  const auto check = [least_s](const std::string& text) {
    double value = 0;
    const bool is_number = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
    return is_number && value >= least_s && value <= kMostS
               ? std::string()
               : "'" + text + "' is not a number of seconds from " + CLI::detail::to_string(least_s) +
                     " to 3600";
  };
  return command.add_option("--interval", seconds, description)
      ->type_name("SECONDS")
      ->check(CLI::Validator(check, "", "seconds"))
      ->capture_default_str();
}

std::chrono::nanoseconds as_duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

}  // namespace tailrace
