#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "config/exit_codes.hpp"
#include "config/reference.hpp"
#include "tests/config/config_fixture.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

class ValidateCommand : public ConfigFixture {
 protected:
  ~ValidateCommand() override { std::filesystem::remove_all(output_folder_); }

  Outcome run(const std::vector<std::string>& arguments, const std::string& out = "") {
    const std::string out_file = out.empty() ? output_folder_ + "/out" : out;
    const std::string err_file = output_folder_ + "/err";
    const pid_t child = fork();
    if (child == 0) exec(arguments, out_file, err_file);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.empty() ? content_of(out_file) : "",
            content_of(err_file)};
  }

 private:
  [[noreturn]] static void exec(const std::vector<std::string>& arguments, const std::string& out,
                                const std::string& err) {
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    std::vector<std::string> words{TAILRACE_BINARY_DIR "/tailrace"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  static std::string content_of(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream content;
    content << stream.rdbuf();
    return content.str();
  }

  static std::string make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tailrace-output-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    return name;
  }

  const std::string output_folder_ = make_folder();
};

TEST_F(ValidateCommand, PrintsValuesWithTheirOrigins) {
  const std::string path = write("[ring]\nslots = 3\n");
  const Outcome outcome = run({"validate", path, "--set", "source.items=7"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_THAT(outcome.out, testing::ContainsRegex("ring\\.slots += 3 +# .*seg\\.toml:2"));
  EXPECT_THAT(outcome.out, testing::ContainsRegex("source\\.items += 7 +# --set"));
  EXPECT_THAT(outcome.out, HasSubstr("ring needs unknown until a batch has run"));
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST_F(ValidateCommand, TakesOptionsBeforeTheFile) {
  EXPECT_EQ(run({"validate", "--set", "ring.slots=3", "--set", "source.shape=[1, 2]", write("")}).code,
            kExitDone);
}

TEST_F(ValidateCommand, PutsEveryFaultOnStderrAndExitsWithItsCode) {
  const Outcome outcome = run({"validate", write("[ring]\nslots = 0\nslotz = 1\n")});
  EXPECT_EQ(outcome.code, kExitConfig);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 2);
  EXPECT_THAT(outcome.err, StartsWith("tailrace: "));
}

TEST_F(ValidateCommand, PrintsJsonForPrograms) {
  const std::string path = write("[ring]\nslots = 3\nslot_bytes = \"2 MiB\"\n");
  const Outcome outcome = run({"validate", "--json", path});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["values"]["ring.slots"]["value"], 3);
  EXPECT_EQ(json["values"]["ring.slots"]["origin"]["line"], 2);
  EXPECT_EQ(json["values"]["source.shape"]["value"], nlohmann::json({3, 512, 512}));
  EXPECT_EQ(json["memory"]["ring_bytes"], 8 << 20);
}

TEST_F(ValidateCommand, PrintsFaultsAsJsonToo) {
  const Outcome outcome = run({"validate", "--json", write("[ring]\nslots = 0\n")});
  EXPECT_EQ(outcome.code, kExitConfig);
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["errors"][0]["key"], "ring.slots");
  EXPECT_EQ(json["errors"][0]["origin"]["column"], 9);
}

TEST_F(ValidateCommand, ExitsWithTryAgainAndARemedyWhenMemoryIsShort) {
  const Outcome outcome = run({"validate", write("[ring]\nslots = 1024\nslot_bytes = \"1 TiB\"\n")});
  EXPECT_EQ(outcome.code, kExitTryAgain);
  EXPECT_THAT(outcome.err, HasSubstr("tailrace: ring.directory: needs 1024 TiB, but \"/dev/shm\" has"));
}

TEST_F(ValidateCommand, ChangesNothingOnDisk) {
  const std::string path =
      write("[log]\nfile = \"logs\"\n[[group]]\nsink = { kind = \"npy\", path = \"out\" }\n");
  const auto before = files();
  EXPECT_EQ(run({"validate", path}).code, kExitDone);
  EXPECT_EQ(run({"validate", path, "--set", "ring.slots=0"}).code, kExitConfig);
  EXPECT_EQ(files(), before);
}

TEST_F(ValidateCommand, SaysThatStdoutIsFull) {
  const Outcome outcome = run({"validate", write("")}, "/dev/full");
  EXPECT_EQ(outcome.code, kExitIo);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write to standard output: No space left on device"));
}

TEST_F(ValidateCommand, GeneratesFileAndReference) {
  EXPECT_EQ(run({"validate", "--defaults"}).out, default_toml());
  EXPECT_EQ(run({"validate", "--reference"}).out, markdown_reference());
}

TEST_F(ValidateCommand, TellsUsageErrorsFromOthers) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"validate"},
                                                    {"nonsense"},
                                                    {"validate", "a", "b"},
                                                    {"validate", "--nonsense"},
                                                    {"validate", "a", "--reference"},
                                                    {"validate", "a", "--set"}})
    EXPECT_EQ(run(arguments).code, kExitUsage) << testing::PrintToString(arguments);
}

TEST_F(ValidateCommand, HasHelpAndVersionEverywhere) {
  for (const std::vector<std::string>& prefix : {std::vector<std::string>{}, {"validate"}})
    for (const char* flag : {"--help", "--version"}) {
      auto arguments = prefix;
      arguments.emplace_back(flag);
      const Outcome outcome = run(arguments);
      EXPECT_EQ(outcome.code, kExitDone);
      EXPECT_THAT(outcome.out, HasSubstr("tailrace"));
      EXPECT_THAT(outcome.err, IsEmpty());
    }
  EXPECT_THAT(run({"validate", "--help"}).out, HasSubstr(help_text()));
}

}  // namespace
}  // namespace tailrace
