#include "ctl/top.hpp"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/exit_codes.hpp"
#include "ctl/figures_text.hpp"
#include "ctl/interval.hpp"
#include "ctl/ring_looks.hpp"
#include "ctl/ring_name.hpp"
#include "ctl/terminal.hpp"
#include "ctl/top_events.hpp"
#include "ctl/top_screen.hpp"
#include "os/clock.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kWindowNs = 5'000'000'000;  // rates are over so long, or one interval
constexpr std::chrono::milliseconds kFirstInterval{200};
constexpr ScreenSize kPaper{1000, 100};  // where there is no terminal

struct Options {
  std::string name;
  double interval_s = 1;
};

bool wants_colour() {
  const char* refused = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return refused == nullptr || *refused == '\0';
}

/// Looks at the rings again and again, and keeps the last few looks for the rates.
class Looks {
 public:
  explicit Looks(const std::string& name) {
    if (!name.empty()) names_.push_back(name);
  }

  std::vector<RingLook> next() {
    const std::uint64_t now_ns = monotonic_ns();
    while (past_.size() > 1 && past_[1].time_ns + kWindowNs <= now_ns) past_.pop_front();
    past_.push_back({now_ns, look_at_rings(names_)});
    return past_.size() < 2 ? compare({}, past_.back().rings) : compare_with_past();
  }

 private:
  struct Past {
    std::uint64_t time_ns;
    std::vector<RingReport> rings;
  };

  // Each ring with the oldest look at it: one that has just come has a shorter past.
  [[nodiscard]] std::vector<RingLook> compare_with_past() const {
    std::vector<RingReport> oldest;
    for (const RingReport& ring : past_.back().rings)
      for (const Past& past : past_)
        if (const auto* found = find_same(past.rings, ring)) {
          oldest.push_back(*found);
          break;
        }
    return compare(oldest, past_.back().rings);
  }

  static const RingReport* find_same(const std::vector<RingReport>& rings, const RingReport& ring) {
    for (const RingReport& candidate : rings)
      if (candidate.name == ring.name && candidate.epoch == ring.epoch) return &candidate;
    return nullptr;
  }

  std::vector<std::string> names_;
  std::deque<Past> past_;
};

class Top {
 public:
  explicit Top(const Options& options)
      : options_(options), looks_(options.name), interval_(as_duration(options.interval_s)) {}

  int run() {
    if (!Terminal::is_there()) return print();
    terminal_.emplace();
    auto pause = std::min<std::chrono::nanoseconds>(kFirstInterval, interval_);
    do rings_ = looks_.next();
    while (draw_for(std::exchange(pause, interval_)));
    return kExitDone;
  }

 private:
  /// False: the end.
  bool draw_for(std::chrono::nanoseconds pause) {
    const auto due = std::chrono::steady_clock::now() + pause;
    if (!draw()) return false;
    for (;;) {
      switch (events_.wait(due - std::chrono::steady_clock::now())) {
        case TopEvent::kQuit:
          return false;
        case TopEvent::kSuspend:
          suspend();
          [[fallthrough]];
        case TopEvent::kRedraw:
          if (!draw()) return false;
          break;
        case TopEvent::kTime:
          if (std::chrono::steady_clock::now() >= due) return true;
      }
    }
  }

  [[nodiscard]] bool draw() const {
    return Terminal::show(top_screen(title(), rings_, Terminal::size(), wants_colour()));
  }

  void suspend() {
    terminal_.reset();
    raise(SIGSTOP);
    terminal_.emplace();
  }

  [[nodiscard]] std::string title() const {
    return "tailrace top" + (options_.name.empty() ? "" : " " + options_.name) + "   every " +
           span_text(options_.interval_s) + ", rates over 5 s   q quits";
  }

  int print() {
    rings_ = looks_.next();  // what the first rates are taken from
    while (std::cout) {
      const auto due = std::chrono::steady_clock::now() + interval_;
      while (std::chrono::steady_clock::now() < due)
        if (events_.wait(due - std::chrono::steady_clock::now()) == TopEvent::kQuit) return kExitDone;
      rings_ = looks_.next();
      for (const std::string& line : top_screen(title(), rings_, kPaper, false)) std::cout << line << '\n';
      std::cout << std::endl;
    }
    return kExitDone;
  }

  Options options_;
  Looks looks_;
  std::chrono::nanoseconds interval_;
  TopEvents events_;
  std::optional<Terminal> terminal_;
  std::vector<RingLook> rings_;
};

}  // namespace

void add_top(CLI::App& app, Action& action) {
  CLI::App& command = add_command(app, "top", "Show the rings on this machine, live; q quits");
  const auto options = std::make_shared<Options>();
  add_ring_name(command, options->name);
  add_interval(command, options->interval_s, 0.1, "Seconds from one look to the next");
  command.callback([options, &action] { action = [options] { return Top(*options).run(); }; });
}

}  // namespace tailrace
