#include "ledger/manifest.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ledger/database.hpp"
#include "ledger/group_ledger.hpp"
#include "os/io_error.hpp"
#include "tests/ledger/support.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using testing::at;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::job_of;
using testing::record_of;

using Names = std::vector<std::string>;

class ManifestTest : public ::testing::Test {
 protected:
  void begin(const Names& names, std::uint32_t shard_index = 0, std::uint32_t shard_count = 1) const {
    JobIdentity job = job_of(names);
    job.items.shard_index = shard_index;
    job.items.shard_count = shard_count;
    (void)JobLedger(Ledger::create(folder())).begin(job, at(names), false);
  }
  void record(const std::string& group, const std::vector<ItemRecord>& records) const {
    GroupLedger(Ledger::open(folder()), group).record(records);
  }
  std::vector<std::string> lines(const std::vector<std::string>& groups = {"masks"}) const {
    Ledger ledger = Ledger::open(folder());
    write_manifest(ledger, folder(), groups);
    std::vector<std::string> lines;
    std::ifstream file(folder() + "/manifest.jsonl");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::string folder() const { return temporary_.path() / "state"; }

  TempFolder temporary_;
};

TEST_F(ManifestTest, HasEverythingAboutAnItem) {
  begin({"a/\"b\".jpg"});
  ItemRecord record = record_of(0);
  record.files = {"/out/x.png", "/out/y.png"};
  record.bytes = 7;
  record.checksum = 0xab;
  record.attempts = 2;
  this->record("masks", {record});
  EXPECT_THAT(lines(),
              ElementsAre(R"({"item":0,"name":"a/\"b\".jpg","state":"done","groups":{"masks":{"state":)"
                          R"("done","batch":0,"row":0,"files":["/out/x.png","/out/y.png"],"bytes":7,)"
                          R"("checksum":"00000000000000ab","attempts":2}}})"));
}

TEST_F(ManifestTest, LeavesOutWhatIsEmpty) {
  begin({"a"});
  record("masks", {record_of(0)});
  EXPECT_THAT(lines(), ElementsAre(R"({"item":0,"name":"a","state":"done","groups":{"masks":)"
                                   R"({"state":"done","batch":0,"row":0,"bytes":0,"attempts":1}}})"));
}

TEST_F(ManifestTest, GivesAnItemTheStateOfTheGroupThatIsWorstOff) {
  begin({"a", "b", "c", "d"});
  const auto bad = [](std::uint64_t item, ItemState state, const std::string& reason) {
    ItemRecord record = record_of(item, state);
    record.reason = reason;
    return record;
  };
  record("masks",
         {record_of(0), bad(1, ItemState::kSkipped, "truncated"), bad(2, ItemState::kSkipped, "truncated")});
  record("sums", {record_of(0), record_of(1), bad(2, ItemState::kSetAside, "died"), record_of(3)});
  std::vector<std::string> states;
  for (const std::string& line : lines({"masks", "sums"})) {
    const auto json = nlohmann::json::parse(line);
    states.push_back(json.at("state").get<std::string>() + ":" + json.value("reason", ""));
  }
  EXPECT_THAT(states, ElementsAre("done:", "skipped:truncated", "set_aside:died", "missing:"));
}

TEST_F(ManifestTest, SaysWhatIsMissingInWhichGroup) {
  begin({"a"});
  EXPECT_THAT(
      lines(),
      ElementsAre(R"({"item":0,"name":"a","state":"missing","groups":{"masks":{"state":"missing"}}})"));
}

TEST_F(ManifestTest, OfAShardHasItsItemsAlone) {
  begin({"b", "d"}, 1, 2);
  record("masks", {record_of(0), record_of(1), record_of(2), record_of(3), record_of(5)});
  std::vector<std::string> items;
  for (const std::string& line : lines()) {
    const auto json = nlohmann::json::parse(line);
    items.push_back(std::to_string(json.at("item").get<int>()) + json.at("name").get<std::string>());
  }
  EXPECT_THAT(items, ElementsAre("1b", "3d"));
}

TEST_F(ManifestTest, KeepsOddNamesOnTheirLine) {
  begin({"line\nbreak", "\xff.jpg"});
  const auto all = lines();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(all[0]).at("name"), "line\nbreak");
  EXPECT_EQ(nlohmann::json::parse(all[1]).at("name"), "\xef\xbf\xbd.jpg");
}

TEST_F(ManifestTest, OfNoItemsIsAnEmptyFile) {
  begin({});
  EXPECT_THAT(lines(), IsEmpty());
  EXPECT_TRUE(fs::exists(folder() + "/manifest.jsonl"));
}

TEST_F(ManifestTest, ReplacesAFormerOneAndLeavesNoOtherFile) {
  begin({"a"});
  (void)lines();
  record("masks", {record_of(0)});
  EXPECT_EQ(nlohmann::json::parse(lines().at(0)).at("state"), "done");
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder())) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("ledger.sqlite", "manifest.jsonl"));
}

TEST_F(ManifestTest, KeepsTheFormerOneWhereTheNewOneCannotBeMade) {
  begin({"a"});
  (void)lines();
  Ledger ledger = Ledger::open(folder());
  ledger.database().run("UPDATE names SET first_position = 4096");
  EXPECT_THROW(write_manifest(ledger, folder(), {}), LedgerError);
  EXPECT_NE(fs::file_size(folder() + "/manifest.jsonl"), 0U);
}

TEST_F(ManifestTest, SaysWhatIsInItsPlace) {
  begin({"a"});
  fs::create_directories(folder() + "/manifest.jsonl");
  EXPECT_THROW((void)lines(), FileError);
}

TEST_F(ManifestTest, HasALineForEachOfManyItems) {
  Names names;
  std::vector<ItemRecord> records;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    names.push_back("item " + std::to_string(i));
    records.push_back(record_of(i));
  }
  begin(names);
  record("masks", records);
  const auto all = lines();
  ASSERT_EQ(all.size(), names.size());
  for (std::size_t i = 0; i < all.size(); i += 4095)
    EXPECT_THAT(all[i],
                ::testing::StartsWith("{\"item\":" + std::to_string(i) + ",\"name\":\"" + names[i] + "\""));
}

}  // namespace
}  // namespace tailrace
