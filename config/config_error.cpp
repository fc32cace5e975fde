#include "config/config_error.hpp"

#include <algorithm>
#include <tuple>

#include "config/text.hpp"

namespace tailrace {
namespace {

std::vector<ConfigIssue> sorted(std::vector<ConfigIssue> issues) {
  const auto place = [](const ConfigIssue& issue) {
    return std::tuple(
        issue.origin.layer == Origin::Layer::kDefault ? Origin::Layer::kFile : issue.origin.layer,
        issue.origin.position.line, issue.origin.position.column);
  };
  std::stable_sort(issues.begin(), issues.end(),
                   [&](const ConfigIssue& a, const ConfigIssue& b) { return place(a) < place(b); });
  return issues;
}

std::string lines_of(const std::vector<ConfigIssue>& issues) {
  std::string lines;
  for (const ConfigIssue& issue : issues) lines += (lines.empty() ? "" : "\n") + to_text(issue);
  return lines;
}

}  // namespace

std::string to_text(const Origin& origin) {
  switch (origin.layer) {
    case Origin::Layer::kDefault:
      return "default";
    case Origin::Layer::kFile:
      return printable(origin.name) +
             (origin.position.line == 0 ? "" : ":" + std::to_string(origin.position.line));
    case Origin::Layer::kEnvironment:
      return "environment " + printable(origin.name);
    case Origin::Layer::kCommandLine:
      return "--set";
  }
  return {};
}

std::string to_text(const ConfigIssue& issue) {
  std::string text = to_text(issue.origin);
  if (issue.origin.position.column != 0) text += ":" + std::to_string(issue.origin.position.column);
  if (!issue.key.empty()) text += ": " + printable(issue.key);
  if (!issue.value.empty()) text += " = " + issue.value;
  return text + ": " + issue.message;
}

ConfigError::ConfigError(std::vector<ConfigIssue> issues)
    : std::runtime_error(lines_of(sorted(issues))), issues_(sorted(std::move(issues))) {}

}  // namespace tailrace
