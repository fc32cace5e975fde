#include "os/failpoint.hpp"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
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
#include <thread>

// TAILRACE_FAILPOINTS=NAME=ACTION@N[,NAME=ACTION@N…]: what the process does to itself when it passes the
// place NAME for the N-th time. ACTION: kill (SIGKILL), stop (SIGSTOP, until somebody sends SIGCONT), error
// (throws ENOSPC), hang (this thread goes on no more). delay:MS (sleeps for so long) is another kind: it
// comes at every N-th pass.

namespace tailrace {
namespace {

constexpr std::string_view kDelayWord = "delay:";

enum class Action { kKill, kStop, kError, kHang, kDelay };

struct Order {
  std::string name;
  Action action;
  std::uint64_t pass;
  std::chrono::milliseconds delay;
  std::atomic<std::uint64_t> passes{0};

  Order(std::string_view place, Action what, std::uint64_t when, std::chrono::milliseconds how_long)
      : name(place), action(what), pass(when), delay(how_long) {}
  [[nodiscard]] bool is_due(std::uint64_t now) const {
    return action == Action::kDelay ? now % pass == 0 : now == pass;
  }
};

std::optional<Action> action_of(std::string_view word) {
  if (word == "kill") return Action::kKill;
  if (word == "stop") return Action::kStop;
  if (word == "error") return Action::kError;
  if (word == "hang") return Action::kHang;
  if (word.starts_with(kDelayWord)) return Action::kDelay;
  return std::nullopt;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

// A misspelt order would be a test that tests nothing.
[[noreturn]] void refuse(std::string_view order) {
  std::fprintf(stderr, "TAILRACE_FAILPOINTS: '%.*s' is not NAME=kill|stop|error|hang|delay:MS@N\n",
               static_cast<int>(order.size()), order.data());
  std::abort();
}

void add_order(std::deque<Order>& orders, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::size_t at = text.rfind('@');
  if (equals == 0 || equals == std::string_view::npos || at == std::string_view::npos || at < equals)
    refuse(text);
  const std::string_view word = text.substr(equals + 1, at - equals - 1);
  const auto action = action_of(word);
  const auto pass = number_in(text.substr(at + 1));
  const auto delay_ms = action == Action::kDelay ? number_in(word.substr(kDelayWord.size())) : 0;
  if (!action || !delay_ms || pass.value_or(0) == 0) refuse(text);
  orders.emplace_back(text.substr(0, equals), *action, *pass, std::chrono::milliseconds(*delay_ms));
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
    case Action::kHang:
      for (;;) pause();
    case Action::kDelay:
      std::this_thread::sleep_for(order.delay);
      break;
  }
}

}  // namespace

void failpoint(const char* name) {
  static std::deque<Order> orders = read_orders();
  for (Order& order : orders)
    // Relaxed: each pass gets a number of its own, nothing else depends on it.
    if (order.name == name && order.is_due(order.passes.fetch_add(1, std::memory_order_relaxed) + 1))
      act(order);
}

}  // namespace tailrace
