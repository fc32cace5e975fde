#include "ctl/ring_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RingList : public testing::Test {
 protected:
  RingList() {
    std::string name = (std::filesystem::temp_directory_path() / "tailrace-list-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    folder_ = name;
  }
  ~RingList() override { std::filesystem::remove_all(folder_); }
  void touch(const std::string& file) const { std::ofstream(folder_ / file) << '\n'; }

  std::filesystem::path folder_;
};

TEST_F(RingList, KnowsRingsByTheirControlFile) {
  for (const char* file : {"tailrace.b.ctl", "tailrace.a.ctl", "tailrace.c.data", "tailrace.d.ctl.new",
                           "tailrace..ctl", "tailrace.x.y.ctl", "other.e.ctl", "tailrace.ctl"})
    touch(file);
  EXPECT_THAT(list_rings(folder_), ElementsAre("a", "b"));
}

TEST_F(RingList, FindsLeftoversOfEveryKind) {
  for (const char* file : {"tailrace.a.data", "tailrace.b.lock", "tailrace.c.ctl.new", "tailrace.d.data.new",
                           "tailrace.e.log", "tailrace.\n.data"})
    touch(file);
  EXPECT_THAT(list_ring_leftovers({folder_, folder_}), ElementsAre("a", "b", "c", "d"));
}

TEST_F(RingList, SeesDanglingLinksToo) {
  const RingFiles files("a", folder_, folder_);
  EXPECT_THAT(existing_files(files), IsEmpty());
  std::filesystem::create_symlink("nowhere", files.data);
  EXPECT_THAT(existing_files(files), ElementsAre(files.data));
}

}  // namespace
}  // namespace tailrace
