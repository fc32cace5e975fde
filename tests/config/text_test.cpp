#include "config/text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tailrace {
namespace {

const std::vector<std::string> kKeys{"ring.slots", "ring.slot_bytes", "source.size", "log.level"};

TEST(Nearest, FindsASlipOfTheFinger) { EXPECT_EQ(nearest("ring.slotz", kKeys), "ring.slots"); }
TEST(Nearest, IgnoresLetterCase) { EXPECT_EQ(nearest("Ring.Slots", kKeys), "ring.slots"); }
TEST(Nearest, FindsAKeyThatLostItsSection) { EXPECT_EQ(nearest("slot_bytes", kKeys), "ring.slot_bytes"); }
TEST(Nearest, FindsAKeyInTheWrongSection) { EXPECT_EQ(nearest("model.size", kKeys), "source.size"); }
TEST(Nearest, HasNoAnswerToNonsense) { EXPECT_EQ(nearest("colour", kKeys), ""); }

TEST(Utf8, IsToldFromOtherBytes) {
  EXPECT_TRUE(is_utf8("plain, µ, €, 🌊"));
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "a\x80", "\xe2\x82"})
    EXPECT_FALSE(is_utf8(bad)) << quote(bad);
}

TEST(Shortened, NeverCutsACharacter) { EXPECT_EQ(shortened("a€b", 3), "a…"); }
TEST(Quote, EscapesWhatWouldEndALine) { EXPECT_EQ(quote("a\n\"\\\x01"), "\"a\\n\\\"\\\\\\u0001\""); }
TEST(RealText, StaysAFloat) {
  EXPECT_EQ(real_text(1), "1.0");
  EXPECT_EQ(real_text(0.485), "0.485");
}

TEST(Name, IsOneTo64OfItsCharacters) {
  EXPECT_TRUE(is_name("A-z_09"));
  EXPECT_TRUE(is_name(std::string(64, 'x')));
  for (const std::string& bad : {std::string(), std::string(65, 'x'), std::string("../x"), std::string("a b"),
                                 std::string("ä"), std::string("a\n"), std::string("a\0", 2)})
    EXPECT_FALSE(is_name(bad)) << quote(bad);
}

}  // namespace
}  // namespace tailrace
