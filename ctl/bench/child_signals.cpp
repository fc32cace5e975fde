#include "ctl/bench/child_signals.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "ctl/bench/bench_error.hpp"

namespace tailrace {

ChildSignals::ChildSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_) throw std::system_error(errno, std::generic_category(), "signalfd");
}

int ChildSignals::wait(std::chrono::milliseconds timeout) const {
  pollfd event{fd_.get(), POLLIN, 0};
  poll(&event, 1, static_cast<int>(timeout.count()));
  int stop = 0;
  signalfd_siginfo info{};
  while (read(fd_.get(), &info, sizeof info) == sizeof info)
    if (info.ssi_signo != SIGCHLD) stop = static_cast<int>(info.ssi_signo);
  return stop;
}

void ChildSignals::wait_or_throw(std::chrono::milliseconds timeout) const {
  if (const int signal = wait(timeout)) throw_interrupted(signal);
}

void throw_interrupted(int signal) {
  throw BenchError("interrupted; nothing was measured to the end", 128 + signal);
}

}  // namespace tailrace
