#include "ctl/top_events.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace tailrace {
namespace {

UniqueFd take_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP, SIGWINCH}) sigaddset(&set, signal);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd || pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot watch for signals");
  return fd;
}

}  // namespace

TopEvents::TopEvents() : signals_(take_signals()), has_keys_(isatty(STDIN_FILENO) == 1) {}

TopEvent TopEvents::wait(std::chrono::nanoseconds timeout) {
  std::array<pollfd, 2> fds{pollfd{signals_.get(), POLLIN, 0},
                            pollfd{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
  const auto ms =
      std::chrono::ceil<std::chrono::milliseconds>(std::max(timeout, std::chrono::nanoseconds(0)));
  if (poll(fds.data(), fds.size(), static_cast<int>(ms.count())) <= 0) return TopEvent::kTime;
  return fds[0].revents != 0 ? read_signal() : read_keys();
}

TopEvent TopEvents::read_signal() const {
  signalfd_siginfo info{};
  if (read(signals_.get(), &info, sizeof info) != sizeof info) return TopEvent::kTime;
  if (info.ssi_signo == SIGWINCH) return TopEvent::kRedraw;
  return info.ssi_signo == SIGTSTP ? TopEvent::kSuspend : TopEvent::kQuit;
}

TopEvent TopEvents::read_keys() {
  std::array<char, 64> keys{};
  const ssize_t length = read(STDIN_FILENO, keys.data(), keys.size());
  if (length < 0 && errno == EINTR) return TopEvent::kTime;
  if (length <= 0) return TopEvent::kQuit;  // the terminal is gone
  const auto* const end = keys.data() + length;
  const bool quit = std::any_of(static_cast<const char*>(keys.data()), end,
                                [](char key) { return key == 'q' || key == 'Q'; });
  return quit ? TopEvent::kQuit : TopEvent::kRedraw;
}

}  // namespace tailrace
