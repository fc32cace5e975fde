#include "config/exit_codes.hpp"
#include "tests/ctl/pipeline_fixture.hpp"
#include "tests/shm/mounted_folder.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MemoryOfARun : public PipelineFixture {};

TEST_F(MemoryOfARun, GivesTheSameResultsWithEveryStrategy) {
  for (const char* strategy : {"workers", "pool", "async", "streams"}) {
    std::filesystem::remove_all(folder_ / "out");
    auto& run =
        start({"run", write_config(files_group()), "--set", std::string("egress.strategy=") + strategy});
    EXPECT_EQ(run.wait(), kExitDone) << run.err();
    EXPECT_EQ(whole_batches(), all_batches()) << strategy;
    EXPECT_TRUE(ring_is_gone());
    EXPECT_THAT(run.err(), HasSubstr("ring of 3 slots of")) << strategy;
  }
}

TEST_F(MemoryOfARun, ThatIsNotThereEndsItWithBothSizesAndNothingStays) {
  const testing::MountedFolder mount("tmpfs", "size=4m");
  if (!mount.problem().empty()) GTEST_SKIP() << mount.problem();
  auto& run = start({"run", write_config(files_group()), "--set", "ring.directory=" + mount.path().string()});
  EXPECT_EQ(run.wait(), kExitIo) << run.err();
  EXPECT_THAT(run.err(), HasSubstr("cannot allocate 8388608 bytes"));
  EXPECT_THAT(run.err(), HasSubstr("4194304 bytes are free there"));
  EXPECT_THAT(mount.names(), IsEmpty());
  EXPECT_TRUE(ring_is_gone());
}

}  // namespace
}  // namespace tailrace
