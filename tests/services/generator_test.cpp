#include <gmock/gmock.h>

#include "tests/services/generator_fixture.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kTwoGroups = R"(
[pipeline]
name = "seg"
[[group]]
name = "masks"
processes = 2
sink = { kind = "png_mask", path = "/srv/out/masks", overlay = true }
[[group]]
name = "sums"
sink = { kind = "checksum" }
)";

TEST_F(GeneratorTest, TheTargetWantsTheProducerAndEachGroupsConsumers) {
  write("seg.toml", kTwoGroups);
  generate();
  EXPECT_THAT(wanted("seg"), ElementsAre("tailrace-consumer@seg:masks:1", "tailrace-consumer@seg:masks:2",
                                         "tailrace-consumer@seg:sums:1", "tailrace-producer@seg"));
  EXPECT_EQ(std::filesystem::read_symlink(output() /
                                          "tailrace@seg.target.wants/tailrace-consumer@seg:sums:1.service"),
            "/lib/units/tailrace-consumer@.service");
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(GeneratorTest, ConsumersBelongToTheTargetAndComeAfterTheProducer) {
  write("seg.toml", kTwoGroups);
  generate();
  EXPECT_THAT(
      drop_in("tailrace-consumer@seg:masks:2"),
      AllOf(HasSubstr("\nPartOf=tailrace@seg.target\n"), HasSubstr("\nWants=tailrace-producer@seg.service\n"),
            HasSubstr("\nAfter=tailrace-producer@seg.service\n"), Not(HasSubstr("BindsTo"))));
}

TEST_F(GeneratorTest, AConsumerMayWriteWhatItsOwnSinkWritesAndNothingElse) {
  write("seg.toml", kTwoGroups);
  generate();
  EXPECT_THAT(drop_in("tailrace-consumer@seg:masks:1"),
              AllOf(HasSubstr("\nReadWritePaths=\"-/srv/out/masks\"\n"),
                    HasSubstr("\nReadWritePaths=\"-/srv/out/masks-overlay\"\n"),
                    HasSubstr("\nReadWritePaths=\"-/srv/out\"\n"),
                    HasSubstr("\nRequiresMountsFor=\"/srv/out/masks\"\n"),
                    HasSubstr("\nStateDirectory=tailrace/seg\n")));
  EXPECT_THAT(drop_in("tailrace-consumer@seg:sums:1"), Not(HasSubstr("ReadWritePaths")));
}

TEST_F(GeneratorTest, FoldersAtTheTopAreNotOpenedForTheSakeOfOneBelow) {
  write("top.toml",
        "[[group]]\nsink = { kind = \"npy\", path = \"/masks\" }\n"
        "[[group]]\nname = \"b\"\nsink = { kind = \"npy\", path = \"/srv/masks/\" }\n");
  generate();
  EXPECT_THAT(drop_in("tailrace-consumer@top:main:1"),
              AllOf(HasSubstr("ReadWritePaths=\"-/masks\"\n"), Not(HasSubstr("\"-/\""))));
  EXPECT_THAT(drop_in("tailrace-consumer@top:b:1"),
              AllOf(HasSubstr("ReadWritePaths=\"-/srv/masks\"\n"), Not(HasSubstr("\"-/srv\""))));
}

TEST_F(GeneratorTest, TheProducerGetsItsOwnFilesAndTheRingsGroup) {
  write("seg.toml", R"(
[pipeline]
name = "seg"
state = "/data/state/seg"
[ring]
directory = "/mnt/huge"
group = "daemon"
[source]
kind = "images"
path = "/data/not there/photos"
[profile]
trace = "/data/profile/trace.json"
[log]
file = "/var/log/seg"
)");
  generate();
  EXPECT_THAT(drop_in("tailrace-producer@seg"),
              AllOf(HasSubstr("\nReadWritePaths=\"-/data/state/seg\"\n"),
                    HasSubstr("\nReadWritePaths=\"-/mnt/huge\"\n"),
                    HasSubstr("\nReadWritePaths=\"-/data/profile\"\n"),
                    HasSubstr("\nReadWritePaths=\"-/var/log/seg\"\n"),
                    HasSubstr("\nRequiresMountsFor=\"/data/not there/photos\"\n"),
                    HasSubstr("\nSupplementaryGroups=\"daemon\"\n")));
  EXPECT_THAT(drop_in("tailrace-producer@seg"), Not(HasSubstr("ReadWritePaths=\"-/data/not there")));
  EXPECT_THAT(drop_in("tailrace-consumer@seg:main:1"), HasSubstr("\nSupplementaryGroups=\"daemon\"\n"));
}

TEST_F(GeneratorTest, PathsAreQuotedAndSpecifiersEscaped) {
  write("odd.toml", "[[group]]\nsink = { kind = \"npy\", path = \"/srv/a b/50%/q\\\"\\\\/ü\" }\n");
  generate();
  EXPECT_THAT(drop_in("tailrace-consumer@odd:main:1"),
              HasSubstr("\nReadWritePaths=\"-/srv/a b/50%%/q\\\"\\\\/ü\"\n"));
}

TEST_F(GeneratorTest, APathThatAUnitFileCannotHoldIsNamedAndLeftOut) {
  write("odd.toml", "[[group]]\nsink = { kind = \"npy\", path = \"/srv/a\\nExecStart=/bin/evil/x\" }\n");
  generate();
  EXPECT_THAT(drop_in("tailrace-consumer@odd:main:1"), Not(HasSubstr("evil")));
  ASSERT_FALSE(warnings().empty());
  EXPECT_THAT(warnings().front(), AllOf(HasSubstr("odd.toml"), HasSubstr("\\n"), Not(HasSubstr("\n"))));
}

TEST_F(GeneratorTest, AUsersProgramGetsBackWhatHardeningTakes) {
  write("run.toml", "[[group]]\nsink = { kind = \"exec\", command = [\"/bin/cat\"] }\n");
  generate();
  EXPECT_THAT(drop_in("tailrace-consumer@run:main:1"),
              AllOf(HasSubstr("\nPrivateNetwork=no\n"), HasSubstr("\nMemoryDenyWriteExecute=no\n"),
                    HasSubstr("\nPrivateDevices=no\n")));
}

TEST_F(GeneratorTest, WithInlineTheProducerWritesWhatTheSinksWriteAndThereAreNoConsumers) {
  write("seg.toml", std::string("[egress]\nstrategy = \"inline\"\n") + kTwoGroups);
  generate();
  EXPECT_THAT(wanted("seg"), ElementsAre("tailrace-producer@seg"));
  EXPECT_THAT(drop_in("tailrace-producer@seg"), HasSubstr("ReadWritePaths=\"-/srv/out/masks\""));
}

TEST_F(GeneratorTest, AFileThatIsNoTomlLeavesItsProducerToSaySoAndTheOthersAlone) {
  write("bad.toml", "[pipeline\n");
  write("good.toml", "");
  generate();
  EXPECT_THAT(wanted("bad"), ElementsAre("tailrace-producer@bad"));
  EXPECT_THAT(wanted("good"), ElementsAre("tailrace-consumer@good:main:1", "tailrace-producer@good"));
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_THAT(warnings().front(), HasSubstr("bad.toml:1"));
}

TEST_F(GeneratorTest, AWrongValueIsNamedAndTheRestStillCounts) {
  write("seg.toml", "[ring]\nslots = -5\n[[group]]\nname = \"masks\"\nprocesses = 2\n");
  generate();
  EXPECT_EQ(wanted("seg").size(), 3u);
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_THAT(warnings().front(), HasSubstr("ring.slots"));
}

TEST_F(GeneratorTest, AFileThatCannotBeReadIsNoMoreThanALine) {
  std::filesystem::create_directories(config() / "folder.toml");
  std::filesystem::create_symlink("/nowhere", config() / "dangling.toml");
  std::ofstream(config() / "huge.toml") << std::string(2u << 20, '#');
  write("good.toml", "");
  generate();
  EXPECT_THAT(wanted("good"), ElementsAre("tailrace-consumer@good:main:1", "tailrace-producer@good"));
  EXPECT_EQ(warnings().size(), 3u);
}

TEST_F(GeneratorTest, NamesThatAreNoPipelinesAreLeftOutWithALine) {
  for (const std::string& name :
       {std::string("with space.toml"), std::string("-dash.toml"), std::string("a\nb.toml"),
        std::string("per%cent.toml"), std::string(200, 'x') + ".toml", std::string("at@sign.toml")})
    write(name, "");
  write("notes.txt", "no pipeline");
  generate();
  EXPECT_FALSE(std::filesystem::exists(output()));
  EXPECT_EQ(warnings().size(), 6u);
  for (const std::string& line : warnings()) EXPECT_THAT(line, Not(HasSubstr("\n")));
}

TEST_F(GeneratorTest, WhatScaleStoredCountsMoreThanProcesses) {
  write("seg.toml", kTwoGroups);
  write("scale.d/seg:masks", "3\n");
  write("scale.d/seg:sums", "0\n");
  generate();
  EXPECT_THAT(wanted("seg"), ElementsAre("tailrace-consumer@seg:masks:1", "tailrace-consumer@seg:masks:2",
                                         "tailrace-consumer@seg:masks:3", "tailrace-producer@seg"));
}

TEST_F(GeneratorTest, AStoredScaleThatIsNoNumberIsNamedAndIgnored) {
  write("seg.toml", kTwoGroups);
  for (const char* text : {"", "many\n", "-1\n", "257\n", "1 2\n", "99999999999999999999\n"}) {
    write("scale.d/seg:masks", text);
    generate();
    EXPECT_EQ(wanted("seg").size(), 4u) << text;
    ASSERT_EQ(warnings().size(), 1u) << text;
    EXPECT_THAT(warnings().front(), HasSubstr("scale.d/seg:masks"));
  }
}

TEST_F(GeneratorTest, GroupsOfOneNameAreMadeOnce) {
  write("seg.toml", "[[group]]\nname = \"a\"\n[[group]]\nname = \"a\"\n");
  generate();
  EXPECT_THAT(wanted("seg"), ElementsAre("tailrace-consumer@seg:a:1", "tailrace-producer@seg"));
}

TEST_F(GeneratorTest, TheSameFilesMakeTheSameUnits) {
  write("seg.toml", kTwoGroups);
  write("other.toml", "");
  generate();
  const auto first = everything();
  generate();
  EXPECT_EQ(everything(), first);
}

TEST_F(GeneratorTest, WithoutAFolderOfConfigurationsItMakesNothing) {
  std::filesystem::remove_all(config());
  generate();
  EXPECT_FALSE(std::filesystem::exists(output()));
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(GeneratorTest, ConsumersThatRunAndAreNoLongerAskedForStopWithTheirTargetAndDoNotComeBack) {
  write("seg.toml", kTwoGroups);
  write("broken.toml", "[[[");
  for (const char* unit :
       {"tailrace-consumer@seg:masks:2.service", "tailrace-consumer@seg:masks:3.service",
        "tailrace-consumer@seg:renamed:1.service", "tailrace-consumer@broken:sums:1.service",
        "tailrace-consumer@removed:sums:1.service", "tailrace-producer@removed.service"})
    runs(unit);
  generate();
  for (const char* pipeline : {"seg:masks:3", "seg:renamed:1", "broken:sums:1", "removed:sums:1"}) {
    const std::string name = pipeline;
    EXPECT_THAT(drop_in("tailrace-consumer@" + name),
                AllOf(HasSubstr("\nPartOf=tailrace@" + name.substr(0, name.find(':')) + ".target\n"),
                      HasSubstr("\nConditionPathExists=!/\n")))
        << name;
  }
  EXPECT_THAT(drop_in("tailrace-consumer@seg:masks:2"), Not(HasSubstr("ConditionPathExists")));
  EXPECT_THAT(drop_in("tailrace-producer@removed"), IsEmpty());
  EXPECT_THAT(wanted("seg"), Not(testing::Contains("tailrace-consumer@seg:masks:3")));
}

TEST_F(GeneratorTest, NamesOfRunningUnitsThatAreNoConsumersAreLeftAlone) {
  for (const char* unit : {"tailrace-consumer@seg.service", "tailrace-consumer@seg:a:x.service",
                           "tailrace-consumer@:a:1.service", "tailrace-consumer@seg:a:1", "sshd.service"})
    runs(unit);
  generate();
  EXPECT_FALSE(std::filesystem::exists(output()));
}

}  // namespace
}  // namespace tailrace
