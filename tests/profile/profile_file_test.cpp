#include "producer/profile/profile_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AProfileFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  [[nodiscard]] std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  static void write(const ProfileFile& file, const std::string& text) {
    file.write([&](const std::string& name) { std::ofstream(name) << text; });
  }

  static std::string refusal(const std::filesystem::path& path) {
    try {
      const ProfileFile file(path, "profile.trace");
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  }

  testing::TempFolder folder_;
};

TEST_F(AProfileFile, HasItsNameWhateverIsInIt) {
  const std::string name = "a \"b\"\\ c://\n d.json";
  std::filesystem::create_directories(path(name).parent_path());
  const ProfileFile file(path(name), "profile.trace");
  file.write([](const std::string& given) {
    EXPECT_EQ(given.find_first_of("\"\\\n :"), std::string::npos) << given;
    std::ofstream(given) << "{}\n";
  });
  EXPECT_EQ(content(name), "{}\n");
}

TEST_F(AProfileFile, ReplacesAnOlderOne) {
  std::ofstream(path("t")) << "{\"old\": 1}";
  write(ProfileFile(path("t"), "profile.trace"), "{\"new\": 1}");
  EXPECT_EQ(content("t"), "{\"new\": 1}");
  EXPECT_THAT(folder_.names(), ElementsAre("t"));
}

TEST_F(AProfileFile, LeavesTheOlderOneWhereTheNewOneIsCutOff) {
  std::ofstream(path("t")) << "{\"old\": 1}";
  for (const char* text : {"", "{\"traceEvents\": [", " \n"}) {
    try {
      write(ProfileFile(path("t"), "profile.trace"), text);
      ADD_FAILURE() << "no error for: " << text;
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), EIO);
      EXPECT_THAT(error.what(), HasSubstr(path("t").string() + " was cut off after "));
    }
  }
  EXPECT_EQ(content("t"), "{\"old\": 1}");
  EXPECT_THAT(folder_.names(), ElementsAre("t"));
}

TEST_F(AProfileFile, LeavesNothingBehindWhereNothingIsWritten) {
  const ProfileFile file(path("t"), "profile.trace");
  EXPECT_THROW(file.write([](const std::string&) {}), std::system_error);
  EXPECT_THROW(file.write([](const std::string& name) {
    std::ofstream(name + ".tmp") << "{";
    throw std::runtime_error("the writer failed");
  }),
               std::runtime_error);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

TEST_F(AProfileFile, RefusesAPathThatNoFileCanHave) {
  std::ofstream(path("file")) << "x";
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink("file", path("link"));
  EXPECT_THAT(refusal(path("none") / "t"), HasSubstr("there is no folder " + path("none").string()));
  EXPECT_THAT(refusal(path("file") / "t"), HasSubstr("is no folder"));
  EXPECT_THAT(refusal(path("folder")), HasSubstr("no regular file"));
  EXPECT_THAT(refusal(path("link")), HasSubstr("no regular file"));
  EXPECT_THAT(refusal(path("folder/")), HasSubstr("names no file"));
  EXPECT_THAT(refusal(""), HasSubstr("names no file"));
  EXPECT_THAT(refusal(path("..")), HasSubstr("no regular file"));
  EXPECT_THAT(refusal(path(std::string(256, 'x'))), HasSubstr("name is too long"));
  EXPECT_THAT(refusal(path(std::string(5000, 'x')) / "t"), HasSubstr("too long"));
}

/// Whoever runs the tests, he is not root while it lives.
class Nobody {
 public:
  Nobody() : before_(geteuid()) { (void)!seteuid(before_ == 0 ? 65534 : before_); }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
  ~Nobody() { (void)!seteuid(before_); }

 private:
  uid_t before_;
};

TEST_F(AProfileFile, SaysBeforeAnythingIsRecordedThatItsFolderMayNotBeWrittenTo) {
  ASSERT_EQ(chmod(folder_.path().c_str(), 0555), 0);
  {
    const Nobody nobody;
    try {
      const ProfileFile file(path("t"), "profile.trace");
      ADD_FAILURE() << "no error";
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code().value(), EACCES);
      EXPECT_THAT(error.what(), HasSubstr("cannot write " + path("t").string()));
    }
  }
  ASSERT_EQ(chmod(folder_.path().c_str(), 0700), 0);
}

TEST_F(AProfileFile, StaysInItsFolderWhenThatIsRenamed) {
  std::filesystem::create_directory(path("before"));
  const ProfileFile file(path("before") / "t", "profile.trace");
  std::filesystem::rename(path("before"), path("after"));
  write(file, "{}");
  EXPECT_EQ(content("after/t"), "{}");
}

}  // namespace
}  // namespace tailrace
