#include "tests/ctl/documented_keys.hpp"

#include <fstream>

namespace tailrace {

std::set<std::string> documented_keys(const std::filesystem::path& document) {
  std::set<std::string> keys;
  std::ifstream lines(document);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::string first = line.substr(1, line.find('|', 1) - 1);
    for (std::size_t begin = first.find('`'); begin != std::string::npos; begin = first.find('`', begin)) {
      const std::size_t end = first.find('`', begin + 1);
      keys.insert(first.substr(begin + 1, end - begin - 1));
      begin = end + 1;
    }
  }
  return keys;
}

std::set<std::string> keys_of(const nlohmann::json& json) {
  std::set<std::string> keys;
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys.insert(key);
    if (value.is_structured()) keys.merge(keys_of(value));
  }
  return keys;
}

}  // namespace tailrace
