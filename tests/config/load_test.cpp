#include "config/load.hpp"

#include "tests/config/config_fixture.hpp"

namespace tailrace {
namespace {

using testing::ElementsAre;

class Load : public ConfigFixture {};

TEST_F(Load, FillsAnEmptyFileWithDefaults) {
  const Config config = load("").config;
  EXPECT_EQ(config.ring.slots, 8u);
  EXPECT_EQ(config.source.kind, SourceKind::kSynthetic);
  EXPECT_EQ(config.egress.strategy, EgressStrategyKind::kStreams);
  ASSERT_EQ(config.groups.size(), 1u);
  EXPECT_EQ(config.groups[0].name, "main");
  EXPECT_EQ(config.groups[0].sink.kind, SinkKind::kNull);
}

TEST_F(Load, ReadsEveryKindOfValue) {
  std::filesystem::create_directory(folder_ / "photos");
  const Config config = load(R"(
[pipeline]
name = "seg"
device = "cuda:3"
[ring]
slots = 16
slot_bytes = "1.5 GiB"
mode = "0640"
spin = "20 us"
[source]
kind = "images"
path = "photos/"
size = [256, 384]
resize = "fill"
mean = [0, 0.5, 1]
shard = "1/4"
[model]
outputs = ["out", "aux"]
[egress]
dtype = "float16"
[[group]]
name = "masks"
processes = 4
progress_limit = "90 s"
sink = { kind = "png_mask", path = "out/masks", overlay = true }
[[group]]
name = "program"
[group.sink]
kind = "exec"
command = ["cat", "-"]
timeout = "1.5 s"
[log]
level = "debug"
)")
                            .config;
  EXPECT_EQ(config.pipeline.device.kind, DeviceConfig::Kind::kCuda);
  EXPECT_EQ(config.pipeline.device.index, 3);
  EXPECT_EQ(config.ring.slot_bytes, 1610612736u);
  EXPECT_EQ(config.ring.mode, 0640u);
  EXPECT_EQ(config.ring.spin.count(), 20);
  EXPECT_EQ(config.source.height, 256u);
  EXPECT_EQ(config.source.width, 384u);
  EXPECT_EQ(config.source.resize, ResizeMode::kFill);
  EXPECT_THAT(config.source.mean, ElementsAre(0.0, 0.5, 1.0));
  EXPECT_EQ(config.source.shard_index, 1u);
  EXPECT_EQ(config.source.shard_count, 4u);
  EXPECT_THAT(config.model.outputs, ElementsAre("out", "aux"));
  EXPECT_EQ(config.egress.dtype, Dtype::kFloat16);
  ASSERT_EQ(config.groups.size(), 2u);
  EXPECT_EQ(config.groups[0].processes, 4u);
  EXPECT_EQ(config.groups[0].progress_limit, std::chrono::seconds(90));
  EXPECT_TRUE(config.groups[0].sink.overlay);
  EXPECT_THAT(config.groups[1].sink.command, ElementsAre("cat", "-"));
  EXPECT_EQ(config.groups[1].sink.timeout.count(), 1500);
  EXPECT_EQ(config.log.level, LogLevel::kDebug);
}

TEST_F(Load, StartsRelativePathsAtTheFilesFolder) {
  const Config config = load("[pipeline]\nname = \"seg\"\n[log]\nfile = \"./logs/../log\"\n").config;
  EXPECT_EQ(config.pipeline.state, (folder_ / ".tailrace/seg").string());
  EXPECT_EQ(config.log.file, (folder_ / "log").string());
}

TEST_F(Load, KeepsAbsolutePathsAndOddNames) {
  EXPECT_EQ(load("[log]\nfile = \"/var/ö d\\n\"\n").config.log.file, "/var/ö d\n");
}

TEST_F(Load, TakesIntegersAsBytes) {
  EXPECT_EQ(load("[ring]\nslot_bytes = 4194304\n").config.ring.slot_bytes, 4194304u);
}

TEST_F(Load, TakesDottedKeysAndABom) {
  EXPECT_EQ(load("\xef\xbb\xbfring.slots = 3\n").config.ring.slots, 3u);
}

TEST_F(Load, SaysWhereEveryValueCameFrom) {
  const auto loaded =
      load("[ring]\nslots = 3\n[[group]]\nname = \"m\"\n", {"source.items=5"}, {"TAILRACE_LOG__LEVEL=error"});
  EXPECT_EQ(origin_of(loaded, "ring.slots"), (folder_ / "seg.toml").string() + ":2");
  EXPECT_EQ(origin_of(loaded, "group.m.name"), (folder_ / "seg.toml").string() + ":4");
  EXPECT_EQ(origin_of(loaded, "ring.mode"), "default");
  EXPECT_EQ(origin_of(loaded, "source.items"), "--set");
  EXPECT_EQ(origin_of(loaded, "log.level"), "environment TAILRACE_LOG__LEVEL");
}

TEST_F(Load, ListsOnlyKeysThatHaveAMeaning) {
  const auto loaded = load("");
  EXPECT_EQ(value_of(loaded, "source.resize"), "(no such key)");
  EXPECT_EQ(value_of(loaded, "source.items"), "6400");
}

TEST_F(Load, ChangesNothingOnDisk) {
  const std::string path = write(
      "[pipeline]\nname = \"x\"\n[log]\nfile = \"logs\"\n[[group]]\nsink = {kind = \"npy\", path = "
      "\"out\"}\n");
  const auto before = files();
  load_config(path);
  EXPECT_EQ(files(), before);
  write("[pipeline]\nname = \"../x\"\n[log]\nfile = 3\n");
  EXPECT_FALSE(faults_of_file(path).empty());
  EXPECT_EQ(files(), before);
}

}  // namespace
}  // namespace tailrace
