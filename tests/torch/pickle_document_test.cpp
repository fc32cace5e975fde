#include "producer/torch/pickle_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "producer/errors.hpp"

namespace tailrace {
namespace {

using namespace std::string_literals;
using Kind = PickleValue::Kind;

TEST(PickleDocument, AnOrderedDictKeepsItsItems) {
  const PickleDocument document("\x80\x02"s + "ccollections\nOrderedDict\nq\x00"s + ")Rq\x01("s +
                                "X\x01\x00\x00\x00"s + "aK\x07u}b.");
  const PickleValue& root = document.root();
  ASSERT_EQ(root.kind, Kind::kCall);
  EXPECT_EQ(root.elements[0]->text, "collections.OrderedDict");
  ASSERT_EQ(root.keys.size(), 1U);
  EXPECT_EQ(root.keys[0]->text, "a");
  EXPECT_EQ(root.values[0]->integer, 7);
}

TEST(PickleDocument, NothingIsCalled) {
  const PickleDocument document("cos\nsystem\n(X\x04\x00\x00\x00true"s + "tR."s);
  EXPECT_EQ(document.root().kind, Kind::kCall);
  EXPECT_EQ(document.root().elements[0]->text, "os.system");
}

TEST(PickleDocument, IntegersOfEveryWidthAreRead) {
  const PickleDocument document("(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x02\x00\x80\x8a\x00t."s);
  std::vector<std::int64_t> integers;
  for (const PickleValue* value : document.root().elements) integers.push_back(value->integer);
  EXPECT_THAT(integers, testing::ElementsAre(255, 65535, -1, -32768, 0));
}

TEST(PickleDocument, DamageIsAnError) {
  const std::vector<std::string> damaged{"",      ".",  "K",     "X\xff\xff\xff\xff"s, "h\x05."s,   "t.",
                                         "\x85.", "(.", "cos",   "}K\x01u.",           "\x8a\x09"s, "R.",
                                         "a.",    "Z.", "(\x93."};
  for (const std::string& bytes : damaged) EXPECT_THROW(PickleDocument{bytes}, ModelError) << bytes;
}

TEST(PickleDocument, NamesAreMadeOfStringsAlone) {
  std::string bytes = "\x8c\x01"s + "aq\x00"s;
  for (int i = 0; i < 20; ++i) bytes += "h\x00h\x00\x93q\x00"s;  // 2^20 bytes of name
  EXPECT_THROW(PickleDocument{bytes + "."}, ModelError);
}

TEST(PickleDocument, DeepNestingIsHarmless) {
  const PickleDocument document(")" + std::string(1'000'000, '\x85') + ".");
  EXPECT_EQ(document.root().kind, Kind::kTuple);
}

}  // namespace
}  // namespace tailrace
