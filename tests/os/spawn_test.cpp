#include "os/spawn.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "os/child_end.hpp"
#include "os/io_error.hpp"
#include "os/pipe.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

/// What a program that is found in PATH, started so, writes to its standard output.
std::string output_of(Spawn& spawn, const std::vector<std::string>& command) {
  Pipe pipe = make_pipe();
  spawn.redirect(pipe.write.get(), STDOUT_FILENO);
  const pid_t child = spawn.start(command.front(), command);
  pipe.write.reset();
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t bytes = 0; (bytes = ::read(pipe.read.get(), buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
  EXPECT_EQ(wait_for_end(child), 0);
  return text;
}

std::string output_of(Spawn& spawn, const std::string& script) {
  return output_of(spawn, std::vector<std::string>{"sh", "-c", script});
}

std::string output_of(const std::string& script) {
  Spawn spawn;
  return output_of(spawn, script);
}

/// The signals that a program, started so, finds in `field` of its /proc/self/status. (A shell would reset
/// some.)
class SignalSet {
 public:
  SignalSet(Spawn& spawn, const std::string& field) {
    const std::vector<std::string> sed{"sed", "-n", "s/^" + field + ":\\s*//p", "/proc/self/status"};
    mask_ = std::stoull(output_of(spawn, sed), nullptr, 16);
  }

  [[nodiscard]] bool has(int signal) const { return (mask_ >> (signal - 1) & 1) != 0; }

 private:
  std::uint64_t mask_ = 0;
};

/// Has this process ignore a signal for the length of a test.
struct Ignored {
  explicit Ignored(int signal) : number(signal), before(::signal(signal, SIG_IGN)) {}
  Ignored(const Ignored&) = delete;
  Ignored& operator=(const Ignored&) = delete;
  ~Ignored() { ::signal(number, before); }
  int number;
  void (*before)(int);
};

TEST(Spawn, SaysWhichProgramCannotBeStartedAndWhy) {
  try {
    static_cast<void>(Spawn().start("/no/such program", {"x"}));
    FAIL();
  } catch (const FileError& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
    EXPECT_THAT(error.what(), HasSubstr("'/no/such program'"));
  }
}

TEST(Spawn, PutsAVariableInThePlaceOfThisProcessesOne) {
  ::setenv("TAILRACE_SPAWN_TEST", "before", 1);
  Spawn spawn;
  spawn.set_variable("TAILRACE_SPAWN_TEST", "first");
  spawn.set_variable("TAILRACE_SPAWN_TEST", "a b=c");
  EXPECT_EQ(output_of(spawn, "env | grep ^TAILRACE_SPAWN_TEST"), "TAILRACE_SPAWN_TEST=a b=c\n");
  EXPECT_EQ(output_of("env | grep ^TAILRACE_SPAWN_TEST"), "TAILRACE_SPAWN_TEST=before\n");
  ::unsetenv("TAILRACE_SPAWN_TEST");
}

TEST(Spawn, BlocksTheNamedSignalsAndNoOther) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  Spawn spawn;
  spawn.block_only({SIGHUP});
  const SignalSet in_child(spawn, "SigBlk");
  EXPECT_TRUE(in_child.has(SIGHUP));
  EXPECT_FALSE(in_child.has(SIGUSR1));
  Spawn unchanged;
  EXPECT_TRUE(SignalSet(unchanged, "SigBlk").has(SIGUSR1));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(Spawn, HandlesTheNamedSignalsByDefault) {
  const Ignored pipe(SIGPIPE);
  const Ignored size(SIGXFSZ);
  Spawn spawn;
  spawn.handle_by_default({SIGPIPE});
  const SignalSet in_child(spawn, "SigIgn");
  EXPECT_FALSE(in_child.has(SIGPIPE));
  EXPECT_TRUE(in_child.has(SIGXFSZ));
}

TEST(Spawn, GivesTheStandardStreamsAlone) {
  const UniqueFd inherited(::dup(STDERR_FILENO));
  const std::string script = "test -e /proc/self/fd/" + std::to_string(inherited.get()) + " && echo open";
  Spawn spawn;
  // The redirection comes first: what it comes from is closed, too.
  Pipe pipe = make_pipe();
  spawn.redirect(pipe.write.get(), STDOUT_FILENO);
  spawn.close_all_but_streams();
  const pid_t child = spawn.start("/bin/sh", {"sh", "-c", script + "; exit 0"});
  pipe.write.reset();
  char byte = 0;
  EXPECT_EQ(::read(pipe.read.get(), &byte, 1), 0);
  EXPECT_EQ(wait_for_end(child), 0);
  EXPECT_EQ(output_of(script), "open\n");
}

TEST(Spawn, ReadsNothingFromASilencedStreamAndLosesWhatIsWrittenToIt) {
  Spawn spawn;
  spawn.silence(STDIN_FILENO);
  spawn.silence(STDERR_FILENO);
  EXPECT_EQ(output_of(spawn, "echo lost >&2; cat; echo end"), "end\n");
}

TEST(Spawn, MakesAProcessGroupOfItsOwn) {
  Spawn spawn;
  spawn.join_group(0);
  EXPECT_EQ(output_of(spawn, "test \"$(cut -d ' ' -f 5 /proc/$$/stat)\" = $$ && echo own"), "own\n");
  EXPECT_EQ(output_of("cut -d ' ' -f 5 /proc/$$/stat"), std::to_string(::getpgrp()) + "\n");
}

}  // namespace
}  // namespace tailrace
