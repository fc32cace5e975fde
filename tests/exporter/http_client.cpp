#include "tests/exporter/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

namespace tailrace {

UniqueFd connect_to(std::uint16_t port, bool v6) {
  UniqueFd fd(socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  six.sin6_addr = in6addr_loopback;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int failed = v6 ? connect(fd.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six)
                        : connect(fd.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four);
  return failed == 0 ? std::move(fd) : UniqueFd();
}

HttpAnswer ask(std::uint16_t port, const std::string& request, bool v6) {
  const UniqueFd fd = connect_to(port, v6);
  std::string text;
  if (fd &&
      send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    std::array<char, 65536> bytes{};
    for (ssize_t count = 0; (count = read(fd.get(), bytes.data(), bytes.size())) > 0;)
      text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  HttpAnswer answer;
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with("HTTP/1.1 ")) return answer;
  answer.status = std::atoi(text.c_str() + std::string("HTTP/1.1 ").size());
  answer.head = text.substr(0, end);
  answer.body = text.substr(end + 4);
  return answer;
}

HttpAnswer get(std::uint16_t port, const std::string& target, const std::string& more_headers) {
  return ask(port, "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more_headers +
                       "\r\n");
}

}  // namespace tailrace
