#include "shm/lost_pages.hpp"

#include <unistd.h>

#include <csignal>
#include <string_view>

namespace tailrace {
namespace {

volatile std::sig_atomic_t lost_pages_exit_code = 0;

void on_bus_error(int) {
  constexpr std::string_view kText = "a file of the ring was truncated while it was in use\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
  _exit(lost_pages_exit_code);
}

}  // namespace

void exit_on_lost_pages(int exit_code) {
  lost_pages_exit_code = exit_code;
  std::signal(SIGBUS, on_bus_error);
}

}  // namespace tailrace
