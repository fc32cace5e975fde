#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "os/unique_fd.hpp"

namespace tailrace {

/// Stands in for a service manager: what processes tell of themselves comes here as long as it lives. Puts
/// NOTIFY_SOCKET and WATCHDOG_USEC into this process's environment, for itself and for what it starts.
class NotifySocket {
 public:
  /// `watchdog`: within which time pings are wanted; 0 = none are.
  NotifySocket(const std::filesystem::path& folder, std::chrono::microseconds watchdog);
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;
  ~NotifySocket();

  /// One per assignment, in order.
  [[nodiscard]] std::vector<std::string> messages() const;
  /// How many begin with `start`.
  [[nodiscard]] std::size_t count(const std::string& start) const;
  /// Position of the first one that begins with `start`; the number of messages where there is none.
  [[nodiscard]] std::size_t find(const std::string& start) const;
  /// Waits until so many that begin with `start` have come, from now on.
  [[nodiscard]] bool await_more(const std::string& start, std::size_t more = 1) const;
  /// Waits until one that begins with `start` is there.
  [[nodiscard]] bool await(const std::string& start) const;
  /// All of it, for messages of failed tests.
  [[nodiscard]] std::string text() const;

 private:
  void read();

  UniqueFd socket_;
  UniqueFd quit_;
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
  std::thread thread_;
};

}  // namespace tailrace
