#include <sys/stat.h>

#include <fstream>
#include <random>
#include <sstream>
#include <system_error>

#include "tests/config/config_fixture.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Faults : public ConfigFixture {};

TEST_F(Faults, AreAllToldAtOnceInTheOrderOfTheFile) {
  EXPECT_THAT(
      faults("[ring]\nslots = 5000\nslotz = 4\nmode = 0o660\n[modle]\nx = 1\n[log]\nlevel = \"inof\"\n"),
      ElementsAre(
          "seg.toml:2:9: ring.slots = 5000: must be an integer, 1 to 1024",
          "seg.toml:3:1: ring.slotz: unknown key; did you mean ring.slots?",
          "seg.toml:4:8: ring.mode = 432: must be octal text, \"0600\" to \"0664\"; this is an integer",
          "seg.toml:5:2: modle: unknown section; did you mean model?",
          AllOf(StartsWith("seg.toml:8:9: log.level = \"inof\": must be one of"),
                HasSubstr("did you mean \"info\"?"))));
}

TEST_F(Faults, NameTheGroup) {
  EXPECT_THAT(faults("[[group]]\nprocesses = -1\nname = \"m\"\n[[group]]\nname = \"a b\"\nprocesses = "
                     "-1\nproceses = 1\n"),
              ElementsAre(StartsWith("seg.toml:2:13: group.m.processes = -1:"),
                          StartsWith("seg.toml:5:8: group.#2.name = \"a b\":"),
                          StartsWith("seg.toml:6:13: group.#2.processes = -1:"),
                          "seg.toml:7:1: group.#2.proceses: unknown key; did you mean group.#2.processes?"));
}

TEST_F(Faults, FillTheMessageOfTheException) {
  const std::string path = write("a = 1\nb = 2\n");
  try {
    load_config(path);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              path + ":1:1: a: unknown key; the known ones: tailrace validate --reference\n" + path +
                  ":2:1: b: unknown key; the known ones: tailrace validate --reference");
  }
}

TEST_F(Faults, StayOnOneLineEach) {
  EXPECT_THAT(
      faults("\"a\\nb\" = 1\n[pipeline]\nname = \"x\\ny\"\n"),
      ElementsAre(StartsWith("seg.toml:1:1: a\\nb: unknown key"), HasSubstr("pipeline.name = \"x\\ny\"")));
}

TEST_F(Faults, ShortenHugeValues) {
  const auto lines = faults("[pipeline]\nname = \"" + std::string(3000, 'x') + "\"\n");
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_LT(lines[0].size(), 300u);
}

TEST_F(Faults, OfSyntaxHaveAPosition) {
  EXPECT_THAT(faults("[ring]\nslots = = 3\n"), ElementsAre(StartsWith("seg.toml:2:")));
  EXPECT_THAT(faults("[ring]\nslots = 3\nslots = 3\n"), ElementsAre(StartsWith("seg.toml:3:")));
  EXPECT_THAT(faults("[ring]\nmode = 0660\n"), ElementsAre(StartsWith("seg.toml:2:")));
}

TEST_F(Faults, OfTableShape) {
  EXPECT_THAT(faults("ring = 3\n"), ElementsAre("seg.toml:1:8: ring = 3: must be a table of keys"));
  EXPECT_THAT(faults("[group]\nname = \"x\"\n"), ElementsAre(HasSubstr("must be written [[group]]")));
  EXPECT_THAT(faults("group = [1]\n"), ElementsAre(HasSubstr("must be written [[group]]")));
  EXPECT_THAT(faults("[[group]]\nsink = 3\n"),
              ElementsAre("seg.toml:2:8: group.main.sink = 3: must be a table of keys"));
  EXPECT_THAT(faults("[[ring]]\nslots = 3\n"), ElementsAre(HasSubstr("must be a table of keys")));
}

TEST_F(Faults, IncludeAKeyWithDotsInItsName) {
  EXPECT_THAT(faults("\"ring.slots\" = 3\n"),
              ElementsAre(StartsWith("seg.toml:1:1: ring.slots: unknown key")));
}

TEST_F(Faults, IncludeTooManyGroups) {
  std::string text;
  for (int i = 0; i < 17; ++i) text += "[[group]]\nname = \"g" + std::to_string(i) + "\"\n";
  EXPECT_THAT(faults(text), ElementsAre("seg.toml:33:1: group: at most 16 groups; these are 17"));
}

TEST_F(Faults, IncludeAMissingFile) {
  EXPECT_THAT(faults_of_file((folder_ / "none.toml").string()),
              ElementsAre("none.toml: the configuration cannot be read: No such file or directory"));
  EXPECT_THAT(faults_of_file(""), ElementsAre(HasSubstr("cannot be read")));
  EXPECT_THAT(faults_of_file(std::string("a\0b", 3)), ElementsAre(HasSubstr("NUL")));
}

TEST_F(Faults, IncludeAFolderAndAFifo) {
  EXPECT_THAT(faults_of_file(folder_.string()), ElementsAre(HasSubstr("must be a regular file")));
  const std::string fifo = (folder_ / "fifo").string();
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(faults_of_file(fifo), ElementsAre(HasSubstr("must be a regular file")));
}

TEST_F(Faults, IncludeMegabytesOfGarbage) {
  std::mt19937 random(1);
  std::string garbage(10'000'000, '\0');
  for (char& c : garbage) c = static_cast<char>(random());
  EXPECT_THAT(faults(garbage), ElementsAre(HasSubstr("at most 1 MiB")));
  garbage.resize(1'000'000);
  EXPECT_EQ(faults(garbage).size(), 1u);
}

TEST_F(Faults, IncludeNulBytes) {
  EXPECT_THAT(faults(std::string("[ring]\n\0", 8)), ElementsAre(StartsWith("seg.toml:2:1: a NUL byte")));
  EXPECT_THAT(faults("[log]\nfile = \"a\\u0000b\"\n"),
              ElementsAre(HasSubstr("must not contain a NUL character")));
}

struct BadValue {
  const char* key;
  const char* value;
  const char* message;
};

class BadValues : public ConfigFixture, public testing::WithParamInterface<BadValue> {};

TEST_P(BadValues, AreRefused) {
  const std::string key = GetParam().key;
  const std::string prefix = key.starts_with("group.") ? "[[group]]\n" : "";
  const std::string name = prefix.empty() ? key : key.substr(6);
  EXPECT_THAT(faults(prefix + name + " = " + GetParam().value + "\n"),
              ElementsAre(HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    Keys, BadValues,
    testing::Values(
        BadValue{"pipeline.name", "\"../x\"", "letters"}, BadValue{"pipeline.name", "\"\"", "letters"},
        BadValue{"pipeline.name", "7", "this is an integer"},
        BadValue{"pipeline.name", "1979-05-27", "this is a date"},
        BadValue{"pipeline.device", "\"cuda:-1\"", "N from 0"},
        BadValue{"pipeline.device", "\"cuda:\"", "N from 0"},
        BadValue{"pipeline.device", "\"cuda:99999999999\"", "N from 0"},
        BadValue{"pipeline.device", "\"gpu\"", "\"cuda\""}, BadValue{"ring.slots", "0", "1 to 1024"},
        BadValue{"ring.slots", "1025", "1 to 1024"}, BadValue{"ring.slots", "-1", "1 to 1024"},
        BadValue{"ring.slots", "4294967304", "1 to 1024"}, BadValue{"ring.slots", "8.0", "this is a float"},
        BadValue{"ring.slots", "true", "this is a boolean"},
        BadValue{"ring.slots", "[8]", "this is an array"}, BadValue{"ring.slots", "{}", "this is a table"},
        BadValue{"ring.slot_bytes", "-1", "a size from"},
        BadValue{"ring.slot_bytes", "\"2 TiB\"", "a size from"},
        BadValue{"ring.slot_bytes", "1.5", "this is a float"},
        BadValue{"ring.slot_bytes", "\"1e3\"", "1.5 GiB"},
        BadValue{"ring.slot_bytes", "\"99999999 TiB\"", "64 bits"},
        BadValue{"ring.mode", "\"0666\"", "no stranger write"}, BadValue{"ring.mode", "\"0770\"", "execute"},
        BadValue{"ring.mode", "\"0060\"", "owner"}, BadValue{"ring.mode", "\"0680\"", "octal"},
        BadValue{"ring.group", "\"no such group\"", "no Unix group"},
        BadValue{"ring.spin", "\"1 h\"", "0 s to 1 s"}, BadValue{"ring.spin", "\"1 ns\"", "multiple of 1 us"},
        BadValue{"ring.spin", "20", "as text with its unit"}, BadValue{"ring.directory", "\"\"", "no folder"},
        BadValue{"source.batch_size", "65537", "1 to 65536"}, BadValue{"source.shard", "\"2/2\"", "0 to 1"},
        BadValue{"source.shard", "\"0/0\"", "COUNT from 1"}, BadValue{"source.shard", "\"1\"", "0/4"},
        BadValue{"source.shard", "\"0/2/3\"", "0/4"}, BadValue{"source.shape", "[0]", "from 1 up"},
        BadValue{"source.shape", "[1.5]", "integers"},
        BadValue{"source.shape", "[4294967296, 4294967296]", "more elements"},
        BadValue{"source.shape", "[1099511627776]", "larger than 1 TiB"},
        BadValue{"source.dtype", "\"float31\"", "float32"}, BadValue{"model.outputs", "[]", "at least one"},
        BadValue{"model.outputs", "[\"a\", \"a\"]", "twice"},
        BadValue{"model.outputs", "[\"\"]", "empty name"}, BadValue{"model.outputs", "[1]", "strings"},
        BadValue{"model.classes", "0", "1 to 65536"},
        BadValue{"model.kind", "\"aoti\"", "not built yet; use \"torchscript\""},
        BadValue{"model.kind", "\"torchscript\"", "needs model.path"},
        BadValue{"model.path", "\"none.pt\"", "there is no file"},
        BadValue{"log.level", "\"loud\"", "must be one of"},
        BadValue{"log.file", "\"seg.toml\"", "must be a folder"},
        BadValue{"group.processes", "257", "0 to 256"}, BadValue{"group.max_attempts", "31", "0 to 30"},
        BadValue{"group.progress_limit", "\"-5 min\"", "250 ms"},
        BadValue{"group.progress_limit", "\"0 s\"", "1 s to 24 h"},
        BadValue{"group.sink.kind", "\"npy\"", "needs a path"},
        BadValue{"group.sink.kind", "\"exec\"", "needs a command"}));

}  // namespace
}  // namespace tailrace
