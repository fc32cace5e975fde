#include "tests/config/config_fixture.hpp"

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Overrides : public ConfigFixture {
 protected:
  static constexpr const char* kTwoGroups = "[[group]]\nname = \"Masks\"\n[[group]]\nname = \"a-b\"\n";
};

TEST_F(Overrides, WinInTheOrderFileEnvironmentSet) {
  const std::string text = "[ring]\nslots = 2\n";
  EXPECT_EQ(load(text, {}, {"TAILRACE_RING__SLOTS=3"}).config.ring.slots, 3u);
  EXPECT_EQ(load(text, {"ring.slots=4"}, {"TAILRACE_RING__SLOTS=3"}).config.ring.slots, 4u);
  EXPECT_EQ(load(text, {"ring.slots=4", "ring.slots=5"}).config.ring.slots, 5u);
}

TEST_F(Overrides, ReachTheKeysOfGroups) {
  const auto loaded = load(kTwoGroups, {"group.Masks.processes=8", "group.a-b.sink.kind=checksum"});
  EXPECT_EQ(loaded.config.groups[0].processes, 8u);
  EXPECT_EQ(loaded.config.groups[1].sink.kind, SinkKind::kChecksum);
}

TEST_F(Overrides, OfTheEnvironmentNameGroupsInAnyLetterCase) {
  const auto loaded = load(
      kTwoGroups, {}, {"TAILRACE_GROUP__MASKS__PROCESSES=8", "TAILRACE_group__A_B__sink__kind=checksum"});
  EXPECT_EQ(loaded.config.groups[0].processes, 8u);
  EXPECT_EQ(loaded.config.groups[1].sink.kind, SinkKind::kChecksum);
}

TEST_F(Overrides, OfTheEnvironmentRefuseAnAmbiguousGroup) {
  EXPECT_THAT(
      faults("[[group]]\nname = \"m\"\n[[group]]\nname = \"M\"\n", {}, {"TAILRACE_GROUP__M__PROCESSES=2"}),
      ElementsAre("environment TAILRACE_GROUP__M__PROCESSES: fits the groups m and M; use --set"));
}

TEST_F(Overrides, ReachTheGroupThatAFileLeftOut) {
  EXPECT_EQ(load("", {"group.main.processes=2"}).config.groups[0].processes, 2u);
}

TEST_F(Overrides, TakeTomlValuesAndPlainText) {
  const auto config = load("", {"source.shape=[1, 2]", "pipeline.device=cpu", "ring.slot_bytes=2 MiB",
                                "ring.mode=0600", "source.fixed=true", "log.file=\"a b\""})
                          .config;
  EXPECT_THAT(config.source.shape, ElementsAre(1, 2));
  EXPECT_EQ(config.pipeline.device.kind, DeviceConfig::Kind::kCpu);
  EXPECT_EQ(config.ring.slot_bytes, 2097152u);
  EXPECT_EQ(config.ring.mode, 0600u);
  EXPECT_TRUE(config.source.fixed);
  EXPECT_EQ(config.log.file, (folder_ / "a b").string());
}

TEST_F(Overrides, TakeNumbersAsTextWhereTextIsMeant) {
  EXPECT_EQ(load("", {"pipeline.name=2024"}).config.pipeline.name, "2024");
}

TEST_F(Overrides, KeepEqualSignsInTheValue) {
  EXPECT_EQ(load("", {"log.file=a=b"}).config.log.file, (folder_ / "a=b").string());
}

TEST_F(Overrides, CannotSmuggleInFurtherKeys) {
  EXPECT_THAT(faults("", {"ring.slots=3\nx = 4"}),
              ElementsAre("--set: ring.slots = \"3\\nx = 4\": must be an integer, "
                          "1 to 1024; this is a string"));
}

TEST_F(Overrides, IgnoreVariablesThatAreNone) {
  EXPECT_THAT(
      faults("", {}, {"TAILRACE_SUPERVISOR=1", "MYTAILRACE_RING__SLOTS=x", "HOME=/", "TAILRACE_RING__SLOTS"}),
      IsEmpty());
}

TEST_F(Overrides, NameTheNearestKey) {
  EXPECT_THAT(
      faults("", {"ring.slotz=3", "group.mian.processes=3", "=", "slots"}, {"TAILRACE_RING__SLOTZ=3"}),
      ElementsAre("environment TAILRACE_RING__SLOTZ: unknown key; did you mean TAILRACE_RING__SLOTS?",
                  "--set: ring.slotz: unknown key; did you mean ring.slots?",
                  "--set: group.mian.processes: unknown key; did you mean group.main.processes?",
                  "--set: unknown key; the known ones: tailrace validate --reference",
                  "--set: slots: must be KEY=VALUE, such as ring.slots=16"));
}

TEST_F(Overrides, CannotRenameAGroup) { EXPECT_EQ(faults("", {"group.main.name=x"}).size(), 1u); }

TEST_F(Overrides, RefuseTextThatIsNoUtf8) {
  EXPECT_THAT(faults("", {"log.file=\xff"}), ElementsAre("--set: log.file: is not valid UTF-8"));
}

TEST_F(Overrides, MayTakeTheMeaningOfKeysOfTheFileAway) {
  const std::string text = "[source]\nkind = \"images\"\npath = \"nowhere\"\nresize = \"fill\"\n";
  EXPECT_THAT(faults(text, {"source.kind=synthetic"}), IsEmpty());
}

}  // namespace
}  // namespace tailrace
