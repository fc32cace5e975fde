#pragma once

#include <cstdint>
#include <string>

#include "os/unique_fd.hpp"

namespace tailrace {

/// Where the exporter listens: a numeric address of this machine, and a port.
struct ListenAddress {
  std::string host = "127.0.0.1";  // without brackets
  std::uint16_t port = 9464;       // 0 = one that is free
  bool is_v6 = false;

  /// "127.0.0.1:9464", "[::1]:9464".
  [[nodiscard]] std::string text() const;
};

/// Reads ADDRESS:PORT; ADDRESS may also be "localhost", an IPv6 address stands in brackets. Throws
/// std::invalid_argument saying what is wrong.
ListenAddress parse_listen_address(const std::string& text);

/// A socket that listens there, non-blocking; where the port was 0 `address` gets the one chosen. Throws
/// std::system_error where that is not possible: the port is taken, below 1024 and not allowed, or the
/// address is not this machine's.
UniqueFd listen_on(ListenAddress& address);

}  // namespace tailrace
