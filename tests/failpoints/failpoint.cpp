#include "shm/failpoint.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

// TAILRACE_FAILPOINTS=NAME=ACTION@N[,NAME=ACTION@N…]: what the process does to itself when it passes the
// place NAME for the N-th time. ACTION: kill (SIGKILL), stop (SIGSTOP, until somebody sends SIGCONT), error
// (throws ENOSPC).

namespace tailrace {
namespace {

enum class Action { kKill, kStop, kError };

struct Order {
  std::string name;
  Action action;
  std::uint64_t pass;
  std::atomic<std::uint64_t> passes{0};

  Order(std::string_view place, Action what, std::uint64_t when) : name(place), action(what), pass(when) {}
};

std::optional<Action> action_of(std::string_view word) {
  if (word == "kill") return Action::kKill;
  if (word == "stop") return Action::kStop;
  if (word == "error") return Action::kError;
  return std::nullopt;
}

// A misspelt order would be a test that tests nothing.
[[noreturn]] void refuse(std::string_view order) {
  std::fprintf(stderr, "TAILRACE_FAILPOINTS: '%.*s' is not NAME=kill|stop|error@N\n",
               static_cast<int>(order.size()), order.data());
  std::abort();
}

void add_order(std::deque<Order>& orders, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t at = text.rfind('@');
  if (equals == 0 || equals == std::string_view::npos || at == std::string_view::npos || at < equals)
    refuse(text);
  const auto action = action_of(text.substr(equals + 1, at - equals - 1));
  std::uint64_t pass = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 1, end, pass);
  if (!action || error != std::errc() || rest != end || pass == 0) refuse(text);
  orders.emplace_back(text.substr(0, equals), *action, pass);
}

std::deque<Order> read_orders() {
  std::deque<Order> orders;
  const char* variable = std::getenv("TAILRACE_FAILPOINTS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    add_order(orders, rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  return orders;
}

void act(const Order& order) {
  switch (order.action) {
    case Action::kKill:
      raise(SIGKILL);
      break;
    case Action::kStop:
      raise(SIGSTOP);
      break;
    case Action::kError:
      throw std::system_error(ENOSPC, std::generic_category(), "failpoint " + order.name);
  }
}

}  // namespace

void failpoint(const char* name) {
  static std::deque<Order> orders = read_orders();
  for (Order& order : orders)
    // Relaxed: each pass gets a number of its own, nothing else depends on it.
    if (order.name == name && order.passes.fetch_add(1, std::memory_order_relaxed) + 1 == order.pass)
      act(order);
}

}  // namespace tailrace
