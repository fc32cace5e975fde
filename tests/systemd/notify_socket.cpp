#include "tests/systemd/notify_socket.hpp"

#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <stdexcept>

#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

UniqueFd bound_socket(const std::string& path) {
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("the path is too long: " + path);
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("bind " + path);
  return fd;
}

}  // namespace

NotifySocket::NotifySocket(const std::filesystem::path& folder, std::chrono::microseconds watchdog)
    : socket_(bound_socket(folder / "notify")), quit_(eventfd(0, EFD_CLOEXEC)) {
  setenv("NOTIFY_SOCKET", (folder / "notify").c_str(), 1);
  if (watchdog.count() != 0) setenv("WATCHDOG_USEC", std::to_string(watchdog.count()).c_str(), 1);
  thread_ = std::thread([this] { read(); });
}

NotifySocket::~NotifySocket() {
  unsetenv("NOTIFY_SOCKET");
  unsetenv("WATCHDOG_USEC");
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(quit_.get(), &one, sizeof one);
  thread_.join();
}

void NotifySocket::read() {
  std::array<char, 4096> bytes{};
  for (;;) {
    std::array<pollfd, 2> fds{{{socket_.get(), POLLIN, 0}, {quit_.get(), POLLIN, 0}}};
    poll(fds.data(), fds.size(), -1);
    if (fds[1].revents != 0) return;
    const ssize_t length = recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (length <= 0) continue;
    std::istringstream lines(std::string(bytes.data(), static_cast<std::size_t>(length)));
    const std::lock_guard lock(mutex_);
    for (std::string line; std::getline(lines, line);) messages_.push_back(line);
  }
}

std::vector<std::string> NotifySocket::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

std::size_t NotifySocket::count(const std::string& start) const {
  const auto all = messages();
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const std::string& m) { return m.starts_with(start); }));
}

std::size_t NotifySocket::find(const std::string& start) const {
  const auto all = messages();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const std::string& m) { return m.starts_with(start); });
  return static_cast<std::size_t>(found - all.begin());
}

bool NotifySocket::await_more(const std::string& start, std::size_t more) const {
  const std::size_t wanted = count(start) + more;
  return eventually([&] { return count(start) >= wanted; }, std::chrono::seconds(20));
}

bool NotifySocket::await(const std::string& start) const {
  return eventually([&] { return count(start) != 0; }, std::chrono::seconds(20));
}

std::string NotifySocket::text() const {
  std::string text;
  for (const std::string& message : messages()) text += message + "\n";
  return text;
}

}  // namespace tailrace
