#pragma once

#include <cstdint>
#include <string>

#include "os/unique_fd.hpp"

namespace tailrace {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without one
  std::string head;
  std::string body;
};

/// A connection to 127.0.0.1 or, `v6`, [::1].
UniqueFd connect_to(std::uint16_t port, bool v6 = false);

/// Sends the text as it is and reads until the other side closes.
HttpAnswer ask(std::uint16_t port, const std::string& request, bool v6 = false);

/// GET target, once.
HttpAnswer get(std::uint16_t port, const std::string& target, const std::string& more_headers = "");

}  // namespace tailrace
