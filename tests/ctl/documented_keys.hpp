#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tailrace {

/// What stands in backticks in the first column of the tables of a Markdown file.
std::set<std::string> documented_keys(const std::filesystem::path& document);

/// Every key of an object, however deep.
std::set<std::string> keys_of(const nlohmann::json& json);

}  // namespace tailrace
