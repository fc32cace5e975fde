#include "config/toml_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

namespace tailrace {
namespace {

std::optional<TomlSyntaxError> fault_of(const std::string& text) {
  try {
    parse_toml(text);
    return std::nullopt;
  } catch (const TomlSyntaxError& error) {
    return error;
  }
}

TEST(TomlReader, KnowsThePositionsOfKeysAndValues) {
  const TomlValue document = parse_toml("\n[ring]\n  slots = 8\n");
  const auto& ring = document.get<TomlValue::Table>()->front();
  EXPECT_EQ(ring.position.line, 2u);
  const auto& slots = ring.value.get<TomlValue::Table>()->front();
  EXPECT_EQ(slots.position.line, 3u);
  EXPECT_EQ(slots.position.column, 3u);
  EXPECT_EQ(slots.value.position.column, 11u);
}

TEST(TomlReader, ReadsNothingAsAnEmptyTable) { EXPECT_TRUE(parse_toml("").get<TomlValue::Table>()->empty()); }

TEST(TomlReader, PointsAtTheFault) {
  const auto fault = fault_of("a = 1\nb = \n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->position().line, 2u);
}

TEST(TomlReader, RefusesTheSameKeyTwice) {
  const auto fault = fault_of("a = 1\na = 2\n");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->position().line, 2u);
}

TEST(TomlReader, RefusesNulBytesWithTheirPosition) {
  const auto fault = fault_of(std::string("a = 1\nb = \"\0\"\n", 14));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->position().line, 2u);
  EXPECT_EQ(fault->position().column, 6u);
}

TEST(TomlReader, RefusesDeepArraysWithoutOverflowingTheStack) {
  EXPECT_TRUE(fault_of("a = " + std::string(4000, '[')));
}

TEST(TomlReader, RefusesTheLineThatWouldNestWithoutLimit) {
  std::string text = "a";
  for (int i = 0; i < 100'000; ++i) text += ".a";
  const auto fault = fault_of(text + " = 1");
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->what(), testing::HasSubstr("at most 4096"));
}

TEST(TomlReader, RefusesWhatIsNestedTooDeepWithoutOverflowingTheStack) {
  std::string text = "a";
  for (int i = 0; i < 2'000; ++i) text += ".a";
  const auto fault = fault_of("[" + text + "]\n" + text + " = 1\n");
  ASSERT_TRUE(fault);
  EXPECT_THAT(fault->what(), testing::HasSubstr("nested more than 64 deep"));
}

TEST(TomlReader, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const std::string alphabet = "[]{}=.,\"'\\#\n a1-:+_\xc3\xa4\xff";
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 60, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    fault_of(text);  // either outcome is fine; a crash is not
  }
}

}  // namespace
}  // namespace tailrace
