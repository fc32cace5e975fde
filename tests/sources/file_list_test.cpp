#include "producer/sources/file_list.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <climits>
#include <cstdint>
#include <stdexcept>
#include <system_error>

#include "tests/sources/temp_folder.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::array<std::string_view, 1> kPng{".png"};

TEST(ListFolder, GivesRelativeNamesSortedByBytes) {
  const TempFolder folder;
  for (const char* name : {"b.png", "a/z.png", "a.png", "a-b.png", "\xC3\xA9.png", "Z.PNG", "note.txt"})
    folder.write(name, "");
  EXPECT_THAT(list_folder(folder.path(), kPng),
              ElementsAre("Z.PNG", "a-b.png", "a.png", "a/z.png", "b.png", "\xC3\xA9.png"));
}

TEST(ListFolder, LeavesOutHiddenFilesAndFolders) {
  const TempFolder folder;
  folder.write(".hidden.png", "");
  folder.write(".cache/a.png", "");
  folder.write("seen.png", "");
  EXPECT_THAT(list_folder(folder.path(), kPng), ElementsAre("seen.png"));
}

TEST(ListFolder, EndsDespiteLinksThatGoInCircles) {
  const TempFolder folder;
  folder.write("a/b/x.png", "");
  fs::create_directory_symlink(folder.path(), folder.path() / "a/b/root");
  fs::create_directory_symlink("loop", folder.path() / "loop");
  EXPECT_THAT(list_folder(folder.path(), kPng), ElementsAre("a/b/x.png"));
}

TEST(ListFolder, FollowsLinksToOtherFolders) {
  const TempFolder folder;
  const TempFolder elsewhere;
  elsewhere.write("x.png", "");
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "link");
  EXPECT_THAT(list_folder(folder.path(), kPng), ElementsAre("link/x.png"));
}

TEST(ListFolder, NamesWhatIsNoFileSoThatItIsReported) {
  const TempFolder folder;
  folder.write("folder.png/inside.png", "");
  fs::create_symlink("nowhere", folder.path() / "dangling.png");
  ASSERT_EQ(::mkfifo((folder.path() / "fifo.png").c_str(), 0600), 0);
  EXPECT_THAT(list_folder(folder.path(), kPng),
              ElementsAre("dangling.png", "fifo.png", "folder.png", "folder.png/inside.png"));
}

TEST(ListFolder, SaysWhichFolderIsMissing) {
  EXPECT_THAT([] { (void)list_folder("/nonexistent/folder", kPng); },
              ThrowsMessage<std::system_error>(HasSubstr("/nonexistent/folder")));
}

TEST(ListFile, KeepsOrderSpacesAndRepetitions) {
  const TempFolder folder;
  const fs::path list = folder.write("list.txt", "b.png\n a b.png\r\n\nb.png\n#1.png");
  EXPECT_THAT(read_list_file(list), ElementsAre("b.png", " a b.png", "b.png", "#1.png"));
}

TEST(ListFile, RefusesALineThatIsNoPath) {
  const TempFolder folder;
  const fs::path list = folder.write("list.txt", "a.png\n" + std::string(5000, 'x') + "\n");
  EXPECT_THAT([&] { (void)read_list_file(list); }, ThrowsMessage<std::invalid_argument>(HasSubstr("line 2")));
}

TEST(ListFile, ReadsNoMoreOfAnEndlessLineThanAPathHas) {
  const TempFolder folder;
  const fs::path list = folder.write("list.txt", "a.png\n");
  fs::resize_file(list, std::uintmax_t{1} << 40);  // a hole: as much as would not go into memory
  EXPECT_THAT([&] { (void)read_list_file(list); }, ThrowsMessage<std::invalid_argument>(HasSubstr("line 2")));
}

TEST(ListFile, TakesTheLongestPathThereCanBe) {
  const TempFolder folder;
  const std::string longest(PATH_MAX - 1, 'x');
  EXPECT_THAT(read_list_file(folder.write("list.txt", longest + "\r\n" + longest)),
              ElementsAre(longest, longest));
}

TEST(ListFile, SaysWhichFileIsMissing) {
  EXPECT_THAT([] { (void)read_list_file("/nonexistent.txt"); },
              ThrowsMessage<std::system_error>(HasSubstr("/nonexistent.txt")));
}

}  // namespace
}  // namespace tailrace
