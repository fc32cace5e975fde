// List files, and the output names that are made of what they hold.

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "producer/sources/file_list.hpp"
#include "producer/sources/output_names.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace::fuzzing {
namespace {

void check_component(std::string_view component) {
  require(!component.empty() && component != "." && component != "..", "a component names something below");
  require(component.size() <= kMaxOutputComponentBytes, "a component is short enough");
}

void check_safe(const std::string& name) {
  require(name.find('\0') == std::string::npos, "no NUL in a name");
  std::string_view rest = name;
  for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
    check_component(rest.substr(0, slash));
    rest.remove_prefix(slash + 1);
  }
  check_component(rest);
}

/// Who got which name, in no order.
std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<std::string>& names) {
  const std::vector<std::string> outputs = output_names(names);
  require(outputs.size() == names.size(), "an output name for each name");
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t i = 0; i < names.size(); ++i) pairs.emplace_back(names[i], outputs[i]);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace

bool run_one(std::span<const std::byte> input) {
  static const TempFolder folder;
  std::vector<std::string> names;
  try {
    names = read_list_file(folder.write("list", text_of(input)));
  } catch (const std::invalid_argument&) {
    return false;
  }
  const auto pairs = pairs_of(names);
  std::set<std::string> seen;
  for (const auto& [name, output] : pairs) {
    check_safe(output);
    require(seen.insert(output).second, "output names are unique");
  }
  std::reverse(names.begin(), names.end());
  require(pairs_of(names) == pairs, "the order of the names plays no part");
  return true;
}

std::vector<std::string> seeds() {
  return {"a/b.jpg\na/b.png\nc.jpg\n", "img.jpg\nimg.png\nimg.jpg.png\nimg.jpg.png\n",
          "/etc/passwd\r\n../../x.jpg\n./a//b.jpg\n.hidden\n..\n",
          "a~2\na\na\n" + std::string(300, 'x') + ".jpg\n" + std::string(300, 'x') + ".png\n",
          "mit \xc3\xa4\xc3\xb6\xc3\xbc.jpg\n" + std::string(199, 'y') + "\xe2\x82\xac.jpg"};
}

std::vector<std::string> dictionary() { return {".jpg", ".png", "../", "~2", "\r\n", "//", "."}; }

}  // namespace tailrace::fuzzing
