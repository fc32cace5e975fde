#include "consumer/sinks/output_name.hpp"

#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using namespace std::string_literals;

TEST(OutputName, TakesOddButSafeNames) {
  for (const std::string& name :
       {"a"s, "a/b c/d"s, "..a"s, "a\nb"s, "\xff\xfe"s, ".hidden"s, "é"s, std::string(251, 'x')})
    EXPECT_EQ(output_file_name(name, ".png"), name + ".png");
}

TEST(OutputName, RefusesUnsafeNamesAndSaysWhichAndWhy) {
  for (const std::string& name : {""s, "/etc/x"s, "../x"s, "a/../x"s, "a/.."s, "."s, "./x"s, "a//b"s, "a/"s,
                                  "a\0b"s, std::string(252, 'x'), std::string(300, 'x') + "/y"})
    EXPECT_THROW(output_file_name(name, ".png"), std::runtime_error) << name;
  EXPECT_THAT(message_of([] { output_file_name("../x", ".png"); }), HasSubstr("'../x.png'"));
  EXPECT_THAT(message_of([] { output_file_name("../a\nb", ".png"); }), HasSubstr("a\\nb"));
  EXPECT_THAT(message_of([] { output_file_name(std::string(300, 'x'), ""); }), HasSubstr("255"));
}

TEST(OutputName, GivesDifferentTensorsDifferentFolders) {
  EXPECT_EQ(folder_name_of_tensor("out.0"), "out.0");
  EXPECT_EQ(folder_name_of_tensor("a/b"), "a%2Fb");
  EXPECT_EQ(folder_name_of_tensor("a%2Fb"), "a%252Fb");
  EXPECT_EQ(folder_name_of_tensor(".."), "%2E.");
  EXPECT_EQ(folder_name_of_tensor(""), "%");
}

}  // namespace
}  // namespace tailrace
