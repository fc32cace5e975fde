#include "systemd/live_config.hpp"

#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <fstream>
#include <memory>
#include <sstream>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const ProcessName kConsumer{"consumer", "pipeline", "masks", 2};
const ProcessName kProducer{"producer", "pipeline"};

class LiveConfigTest : public ::testing::Test {
 protected:
  LiveConfigTest() {
    spdlog::set_default_logger(
        std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log_)));
    write("", "");
  }
  ~LiveConfigTest() override { spdlog::set_default_logger(before_); }

  void write(const std::string& sections, const std::string& group_keys) const {
    std::ofstream(path()) << sections << "\n[[group]]\nname = \"masks\"\nsink = { kind = \"null\" }\n"
                          << group_keys << "\n[[group]]\nname = \"sums\"\nsink = { kind = \"null\" }\n";
  }
  [[nodiscard]] std::string path() const { return folder_.path() / "pipe.toml"; }
  [[nodiscard]] LoadedConfig load() const { return load_config(path()); }
  std::string reload(LiveConfig& live) {
    log_.str("");
    live.reload();
    return log_.str();
  }

  testing::TempFolder folder_;
  std::ostringstream log_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(LiveConfigTest, TakesOverWhatCanChange) {
  LiveConfig live(
      load(), [this] { return load(); }, kConsumer);
  write("[ring]\nspin = \"50 us\"\n[log]\nlevel = \"debug\"\n", "progress_limit = \"7 s\"");
  EXPECT_THAT(reload(live), HasSubstr("changed: ring.spin, group.masks.progress_limit, log.level"));
  EXPECT_EQ(live.ring_spin(), 50us);
  EXPECT_EQ(live.progress_limit(), 7s);
  EXPECT_EQ(spdlog::default_logger()->level(), spdlog::level::debug);
}

TEST_F(LiveConfigTest, NamesWhatNeedsARestartEachTime) {
  LiveConfig live(
      load(), [this] { return load(); }, kProducer);
  write("[ring]\nslots = 5\n[egress]\nspin = \"9 us\"\n", "");
  EXPECT_THAT(reload(live), HasSubstr("only after a restart: ring.slots"));
  EXPECT_THAT(reload(live), HasSubstr("only after a restart: ring.slots"));
  EXPECT_THAT(log_.str(), Not(HasSubstr("changed: egress.spin"))) << "that was the first time";
  EXPECT_EQ(live.egress_spin(), 9us);
}

TEST_F(LiveConfigTest, KeepsEveryValueWhereTheFileIsFaultyAndNamesEachFault) {
  LiveConfig live(
      load(), [this] { return load(); }, kConsumer);
  write("[ring]\nspin = \"50 us\"\nslots = \"many\"\n[log]\nlevle = \"debug\"\n", "");
  const std::string log = reload(live);
  EXPECT_THAT(log, HasSubstr("pipe.toml:3:"));
  EXPECT_THAT(log, HasSubstr("pipe.toml:5:"));
  EXPECT_THAT(log, HasSubstr("the values from before stay"));
  EXPECT_EQ(live.ring_spin(), 0us);
}

TEST_F(LiveConfigTest, SurvivesAFileThatIsGone) {
  LiveConfig live(
      load(), [this] { return load(); }, kConsumer);
  std::filesystem::remove(path());
  EXPECT_THAT(reload(live), HasSubstr("the values from before stay"));
}

TEST_F(LiveConfigTest, SaysThatNothingHasChanged) {
  LiveConfig live(
      load(), [this] { return load(); }, kConsumer);
  EXPECT_THAT(reload(live), HasSubstr("nothing has changed"));
}

TEST(KeyEffects, AreThoseOfTheProcessThatAsks) {
  EXPECT_EQ(effect_of("group.masks.sink.path", kConsumer), KeyEffect::kRestart);
  EXPECT_EQ(effect_of("group.sums.sink.path", kConsumer), KeyEffect::kNone);
  EXPECT_EQ(effect_of("group.masks.max_attempts", kConsumer), KeyEffect::kNone);
  EXPECT_EQ(effect_of("group.masks.max_attempts", kProducer), KeyEffect::kRestart);
  EXPECT_EQ(effect_of("source.batch_size", kConsumer), KeyEffect::kNone);
  EXPECT_EQ(effect_of("group.masks.processes", kProducer), KeyEffect::kNone);
  EXPECT_EQ(effect_of("egress.spin", kProducer), KeyEffect::kLive);
}

}  // namespace
}  // namespace tailrace
