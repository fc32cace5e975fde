#include "producer/sources/output_names.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Names = std::vector<std::string>;

bool is_safe(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string::npos) return false;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string component = name.substr(begin, end - begin);
    if (component.empty() || component == "." || component == "..") return false;
    if (component.size() > kMaxOutputComponentBytes) return false;
    begin = end + 1;
  }
  return true;
}

TEST(OutputNames, AreTheFolderAndTheStem) {
  EXPECT_THAT(output_names(Names{"a/img.png", "b/img.png", "A/img.png", "x.tar.gz", "plain"}),
              ElementsAre("a/img", "b/img", "A/img", "x.tar", "plain"));
}

TEST(OutputNames, KeepTheExtensionsOfAllWhoseStemsMeet) {
  EXPECT_THAT(output_names(Names{"img.jpg", "img.png", "other.png", "sub/img.png"}),
              ElementsAre("img.jpg", "img.png", "other", "sub/img"));
}

TEST(OutputNames, KeepTheExtensionOfANameThatMeetsAKeptOne) {
  EXPECT_THAT(output_names(Names{"img.jpg.png", "img.jpg", "img.png"}),
              ElementsAre("img.jpg.png", "img.jpg", "img.png"));
}

TEST(OutputNames, AreNotMetByADoubleSuffixAlone) {
  EXPECT_THAT(output_names(Names{"img.jpg.png", "img.jpg"}), ElementsAre("img.jpg", "img"));
}

TEST(OutputNames, NumberNamesThatOccurAgain) {
  EXPECT_THAT(output_names(Names{"a.jpg", "b.jpg", "a.jpg", "a.jpg"}), ElementsAre("a", "b", "a~2", "a~3"));
}

TEST(OutputNames, OfARepeatedNameDoNotMeetALiteralOne) {
  const Names outputs = output_names(Names{"a.jpg", "a.jpg", "a~2.jpg"});
  EXPECT_THAT(std::set<std::string>(outputs.begin(), outputs.end()), SizeIs(3));
}

TEST(OutputNames, OfPathsThatLeaveTheFolderStayInside) {
  EXPECT_THAT(
      output_names(Names{"/abs/x.png", "../up.png", "a//b/./c.png", "..", "/", "...png", "..png", ".png"}),
      ElementsAre("abs/x", "__/up", "a/b/c", "__", "_", "...png", "..png", ".png"));
}

TEST(OutputNames, OfPathsThatBecomeTheSameGetAHash) {
  const Names outputs = output_names(Names{"/a/b.png", "a/b.png", "a//b.png"});
  EXPECT_THAT(std::set<std::string>(outputs.begin(), outputs.end()), SizeIs(3));
  for (const std::string& output : outputs) EXPECT_TRUE(output.starts_with("a/b.png-")) << output;
}

TEST(OutputNames, KeepSpacesNewlinesAndForeignBytes) {
  EXPECT_THAT(output_names(Names{"a b\n.png", "\xff\xfe.png"}), ElementsAre("a b\n", "\xff\xfe"));
}

TEST(OutputNames, OfLongComponentsAreCutBetweenCharacters) {
  std::string long_name;
  while (long_name.size() < 250) long_name += "\xE2\x82\xAC";  // three bytes each
  const Names outputs = output_names(Names{long_name + ".png", long_name + "a.png", long_name + "/x.png"});
  for (const std::string& output : outputs) {
    EXPECT_TRUE(is_safe(output)) << output;
    const std::string component = output.substr(0, output.find('/'));
    EXPECT_EQ((component.size() - 17) % 3, 0U) << "cut within a character: " << component;
  }
  EXPECT_NE(outputs[0], outputs[1]);
}

TEST(OutputNames, AreUniqueAndSafeForListsFullOfCollisions) {
  std::mt19937 random(7);
  const Names pieces{"a", "b", ".jpg", ".png", "~2", "/", "..", ".", "img", std::string(90, 'x'), "-", "A"};
  for (int round = 0; round < 200; ++round) {
    Names names(300);
    for (std::string& name : names)
      for (std::size_t count = 1 + random() % 5; count > 0; --count) name += pieces[random() % pieces.size()];
    const Names outputs = output_names(names);
    std::set<std::string> seen;
    for (const std::string& output : outputs) {
      EXPECT_TRUE(seen.insert(output).second) << output;
      EXPECT_TRUE(is_safe(output)) << output;
    }
  }
}

TEST(OutputNames, DoNotDependOnTheOrderOfTheList) {
  Names names{"img.jpg", "img.png", "img.jpg.png", "/a/b.png", "a/b.png", "img.jpg.png.png", "x", "x.png"};
  std::map<std::string, std::string> expected;
  const Names first = output_names(names);
  for (std::size_t i = 0; i < names.size(); ++i) expected[names[i]] = first[i];
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(names.begin(), names.end(), random);
    const Names outputs = output_names(names);
    for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(outputs[i], expected[names[i]]) << names[i];
  }
}

TEST(OutputNames, OfNothingAreNothing) { EXPECT_THAT(output_names(Names{}), SizeIs(0)); }

}  // namespace
}  // namespace tailrace
