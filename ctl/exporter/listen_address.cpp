#include "ctl/exporter/listen_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <system_error>

namespace tailrace {
namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw std::invalid_argument("'" + text + "' is no address to listen on: " + why +
                              "; it has the form 127.0.0.1:9464 or [::1]:9464");
}

std::uint16_t parse_port(const std::string& text, const std::string& digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    refuse(text, "'" + digits + "' is no port from 0 to 65535");
  return port;
}

[[noreturn]] void fail(const ListenAddress& address) {
  throw std::system_error(errno, std::generic_category(),
                          "cannot listen on " + address.text() + " (--listen chooses another address)");
}

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t length = 0;
};

// Empty: the host is no address of its family.
std::optional<SocketAddress> socket_address_of(const ListenAddress& address) {
  SocketAddress socket;
  if (address.is_v6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    if (inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
    std::memcpy(&socket.bytes, &v6, socket.length = sizeof v6);
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    if (inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr) != 1) return std::nullopt;
    std::memcpy(&socket.bytes, &v4, socket.length = sizeof v4);
  }
  return socket;
}

std::uint16_t port_of(const SocketAddress& socket) {
  sockaddr_in6 v6{};
  sockaddr_in v4{};
  std::memcpy(&v6, &socket.bytes, sizeof v6);
  std::memcpy(&v4, &socket.bytes, sizeof v4);
  return ntohs(socket.bytes.ss_family == AF_INET6 ? v6.sin6_port : v4.sin_port);
}

}  // namespace

std::string ListenAddress::text() const {
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

ListenAddress parse_listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) refuse(text, "the port is missing");
  ListenAddress address;
  address.host = text.substr(0, colon);
  address.port = parse_port(text, text.substr(colon + 1));
  if (address.host.size() > 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.is_v6 = true;
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (address.host == "localhost") address.host = "127.0.0.1";
  if (!socket_address_of(address)) refuse(text, "'" + address.host + "' is no numeric address");
  return address;
}

UniqueFd listen_on(ListenAddress& address) {
  SocketAddress where = socket_address_of(address).value();
  UniqueFd fd(socket(where.bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) fail(address);
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto* raw = reinterpret_cast<sockaddr*>(&where.bytes);
  if (bind(fd.get(), raw, where.length) != 0 || listen(fd.get(), SOMAXCONN) != 0) fail(address);
  getsockname(fd.get(), raw, &where.length);
  address.port = port_of(where);
  return fd;
}

}  // namespace tailrace
