#include "ctl/bench/forked_process.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <system_error>
#include <utility>

#include "config/exit_code_of.hpp"
#include "ctl/bench/bench_error.hpp"
#include "os/child_end.hpp"

namespace tailrace {
namespace {

constexpr std::chrono::milliseconds kRound{200};

[[noreturn]] void work_in_child(const std::function<void()>& work, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExitUnexpected);  // it died before
  try {
    work();
  } catch (const std::exception& error) {
    std::cerr << "tailrace: " << error.what() << std::endl;
    _exit(exit_code_of(error));
  }
  _exit(kExitDone);
}

}  // namespace

ForkedProcess::ForkedProcess(const std::function<void()>& work) {
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) work_in_child(work, parent);
}

ForkedProcess::ForkedProcess(ForkedProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), code_(other.code_) {}

ForkedProcess::~ForkedProcess() {
  if (pid_ == 0 || code_) return;
  kill(pid_, SIGKILL);
  wait_for_end(pid_);
}

std::optional<int> ForkedProcess::try_end() {
  if (code_) return code_;
  if (const auto status = end_of(pid_)) code_ = exit_code_of_status(*status);
  return code_;
}

void wait_for_all(std::vector<ForkedProcess>& processes, const ChildSignals& signals) {
  for (;;) {
    bool all_ended = true;
    for (ForkedProcess& process : processes) {
      const auto code = process.try_end();
      all_ended = all_ended && code.has_value();
      if (code.value_or(kExitDone) != kExitDone)
        throw BenchError("a process of the measurement ended with exit code " + std::to_string(*code), *code);
    }
    if (all_ended) return;
    signals.wait_or_throw(kRound);
  }
}

}  // namespace tailrace
