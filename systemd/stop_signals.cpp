#include "systemd/stop_signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace tailrace {
namespace {

// One process has one set of signals: the flags are the process's, the object is their owner.
std::atomic<int> stop_signal{0};

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

StopSignals::StopSignals() {
  stop_signal = 0;
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  for (const int number : {SIGPIPE, SIGXFSZ}) std::signal(number, SIG_IGN);  // the call fails, and says more
  signal_fd_ = signalfd(-1, &set, SFD_CLOEXEC);
  if (signal_fd_ < 0) throw_errno("signalfd");
  quit_fd_ = eventfd(0, EFD_CLOEXEC);
  if (quit_fd_ < 0) throw_errno("eventfd");
  if (const char* supervisor = std::getenv("TAILRACE_SUPERVISOR"))  // NOLINT(concurrency-mt-unsafe)
    supervisor_ = std::strtol(supervisor, nullptr, 10);
  thread_ = std::thread([this] { watch(); });
}

StopSignals::~StopSignals() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(quit_fd_, &one, sizeof one);
  thread_.join();
  close(signal_fd_);
  close(quit_fd_);
}

bool StopSignals::stop_requested() const noexcept { return stop_signal != 0; }
bool StopSignals::orphaned() const noexcept { return supervisor_ != 0 && getppid() != supervisor_; }
int StopSignals::signal() const noexcept { return stop_signal; }

void StopSignals::watch() noexcept {
  for (;;) {
    pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {quit_fd_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (read(signal_fd_, &info, sizeof info) != sizeof info) continue;
    on_signal(static_cast<int>(info.ssi_signo));
  }
}

void StopSignals::on_signal(int number) noexcept {
  // Before the lock, which a hook that another thread calls may hold for long.
  if (number != SIGHUP && stop_signal.exchange(number) != 0) _exit(128 + number);
  const std::lock_guard lock(mutex_);
  // A terminal that was closed says SIGHUP, too, and ends nothing here.
  const Hook& hook = number == SIGHUP ? reload_ : stop_;
  if (hook) hook();
}

void StopSignals::on_reload(Hook reload) {
  const std::lock_guard lock(mutex_);
  reload_ = std::move(reload);
}

StopSignals::StopHook::StopHook(StopSignals& signals, Hook hook) : signals_(&signals) {
  const std::lock_guard lock(signals.mutex_);
  signals.stop_ = std::move(hook);
  if (signals.stop_requested()) signals.stop_();
}

StopSignals::StopHook::~StopHook() {
  const std::lock_guard lock(signals_->mutex_);
  signals_->stop_ = {};
}

}  // namespace tailrace
