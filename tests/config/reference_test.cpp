#include "config/reference.hpp"

#include <fstream>
#include <sstream>

#include "config/keys.hpp"
#include "tests/config/config_fixture.hpp"

namespace tailrace {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

class Reference : public ConfigFixture {};

TEST_F(Reference, IsTheShippedFile) {
  EXPECT_EQ(content_of(TAILRACE_SOURCE_DIR "/config/pipeline.toml"), default_toml())
      << "run: tailrace validate --defaults > config/pipeline.toml";
}

TEST_F(Reference, IsThePublishedPage) {
  EXPECT_EQ(content_of(TAILRACE_SOURCE_DIR "/docs/configuration.md"), markdown_reference())
      << "run: tailrace validate --reference > docs/configuration.md";
}

TEST_F(Reference, LoadsAsTheDefaults) {
  const LoadedConfig shipped = load(default_toml());
  const LoadedConfig empty = load("");
  ASSERT_EQ(shipped.values.size(), empty.values.size());
  for (std::size_t i = 0; i < empty.values.size(); ++i) {
    EXPECT_EQ(shipped.values[i].key, empty.values[i].key);
    EXPECT_EQ(shipped.values[i].value, empty.values[i].value) << empty.values[i].key;
  }
}

TEST_F(Reference, HasNoKeyTwiceAndOnlyKnownConditions) {
  for (const Key& key : all_keys()) {
    EXPECT_EQ(find_key(key.name), &key);
    EXPECT_TRUE(key.applies.key.empty() || find_key(key.applies.key) != nullptr) << key.name;
    EXPECT_NE(help_text().find(std::string("  ") + std::string(key.name) + " "), std::string::npos)
        << key.name;
  }
}

TEST_F(Reference, HasDefaultsThatTheirOwnKeysAccept) {
  GroupConfig group;
  const std::filesystem::path base = folder_;
  for (const Key& key : all_keys()) {
    if (key.name == "group.name") continue;  // no override renames a group
    Config config;
    const Scope scope{config, group, base};
    const std::string before = key.type.render(scope);
    const std::string section =
        key.of_group() ? "group.main." + std::string(key.name.substr(6)) : std::string(key.name);
    const auto lines = faults("", {section + "=" + before});
    for (const std::string& line : lines)
      EXPECT_NE(line.find("only has a meaning"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace tailrace
