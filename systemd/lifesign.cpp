#include "systemd/lifesign.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "systemd/log.hpp"
#include "systemd/notify.hpp"

namespace tailrace {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds kLongestRound = 1s;
constexpr std::chrono::nanoseconds kShortestRound = 5ms;
constexpr std::uint64_t kStatusEveryNs = 1'000'000'000;
constexpr std::chrono::microseconds kExtension = 30s;

std::chrono::nanoseconds round_of(std::chrono::nanoseconds period) {
  return period == 0ns ? kLongestRound : std::clamp(period / 8, kShortestRound, kLongestRound);
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

Lifesign::Lifesign(StopSignals& signals, std::chrono::nanoseconds period)
    : signals_(&signals), period_(period), round_(round_of(period)), main_since_ns_(monotonic_ns()) {
  thread_ = std::thread([this] { run(); });
}

Lifesign::~Lifesign() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    if (!told_stopping_) notify_stopping("leaving");
  }
  changed_.notify_all();
  thread_.join();
}

void Lifesign::turn() noexcept {
  turns_.fetch_add(1, std::memory_order_relaxed);  // only the change of the count is looked at
}

Lifesign::Allowance::Allowance(Lifesign& life, std::chrono::nanoseconds limit) noexcept : life_(&life) {
  life.turn();
  life.allowed_until_ns_.store(monotonic_ns() + static_cast<std::uint64_t>(limit.count()),
                               std::memory_order_relaxed);
}

Lifesign::Allowance::~Allowance() {
  life_->turn();
  life_->allowed_until_ns_.store(0, std::memory_order_relaxed);
}

void Lifesign::ready() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(ready_, true)) notify_ready(status_text());
}

Lifesign::Stage::Stage(Lifesign& life, Status status, Measure measure)
    : life_(&life), status_(std::move(status)), measure_(std::move(measure)) {
  const std::lock_guard lock(life_->mutex_);
  life_->stages_.push_back(this);
  life_->stage_changed_ = true;
  life_->changed_.notify_all();
}

Lifesign::Stage::~Stage() {
  const std::lock_guard lock(life_->mutex_);
  life_->stages_.remove(this);
}

void Lifesign::Stage::say(const std::string& status) {
  const std::lock_guard lock(life_->mutex_);
  status_ = [status] { return status; };
  life_->stage_changed_ = true;
  life_->changed_.notify_all();
}

Lifesign::Helper::Helper(Lifesign& life, std::string name, std::function<Look()> look)
    : life_(&life), name_(std::move(name)), look_(std::move(look)), since_ns_(monotonic_ns()) {
  const std::lock_guard lock(life_->mutex_);
  life_->helpers_.push_back(this);
}

Lifesign::Helper::~Helper() {
  const std::lock_guard lock(life_->mutex_);
  life_->helpers_.remove(this);
}

// Sends without the lock: the main loop never waits for a manager, or a log, that takes its time.
void Lifesign::run() {
  std::unique_lock lock(mutex_);
  while (!quit_) {
    const Signs signs = look();
    lock.unlock();
    send(signs);
    lock.lock();
    changed_.wait_for(lock, round_, [this] { return quit_ || std::exchange(stage_changed_, false); });
  }
}

void Lifesign::send(const Signs& signs) {
  if (signs.error) spdlog::error("{}", *signs.error);
  if (signs.relief) spdlog::info("{}", *signs.relief);
  if (signs.stopping)
    notify_stopping(signs.status.value_or("stopping"));
  else if (signs.status)
    notify_status(*signs.status);
  if (signs.extend) notify_extend_timeout(kExtension);
  if (signs.ping) notify_watchdog();
  sum_up_repeats();
}

std::string Lifesign::status_text() const {
  try {
    return stages_.empty() ? "working" : stages_.back()->status_();
  } catch (const std::exception& error) {  // out of descriptors, say
    return std::string("working; the state cannot be read: ") + error.what();
  }
}

std::uint64_t Lifesign::main_silent_ns(std::uint64_t now) {
  std::uint64_t count = turns_.load(std::memory_order_relaxed);
  if (!stages_.empty() && stages_.back()->measure_) count += stages_.back()->measure_();
  if (now < allowed_until_ns_.load(std::memory_order_relaxed) || count != main_count_) main_since_ns_ = now;
  main_count_ = count;
  return now - main_since_ns_;
}

Lifesign::Silence Lifesign::find_silence(std::uint64_t now) {
  Silence silence{"main loop", main_silent_ns(now)};
  for (Helper* helper : helpers_) {
    const Look seen = helper->look_();
    if (!seen.busy || seen.count != helper->count_) helper->since_ns_ = now;
    helper->count_ = seen.count;
    if (now - helper->since_ns_ > silence.ns) silence = {helper->name_, now - helper->since_ns_};
  }
  return silence;
}

Lifesign::Signs Lifesign::look() {
  const std::uint64_t now = monotonic_ns();
  const Silence silence = find_silence(now);
  Signs signs;
  signs.stopping = signals_->stop_requested() && !std::exchange(told_stopping_, true);
  const bool in_transition = !ready_ || told_stopping_;
  signs.extend = in_transition && silence.ns <= 2 * static_cast<std::uint64_t>(round_.count());
  if (period_ != 0ns) judge(silence, signs);
  signs.status = next_status(now, signs.stopping || signs.error);
  return signs;
}

void Lifesign::judge(const Silence& silence, Signs& signs) {
  signs.ping = silence.ns <= static_cast<std::uint64_t>(period_.count()) / 2;
  if (signs.ping && !stuck_.empty()) {
    signs.relief = "the " + stuck_ + " goes on";
    stuck_.clear();
  } else if (!signs.ping && stuck_.empty()) {
    stuck_ = silence.part;
    signs.error = fmt::format(
        "the {} has not got on for {:.1f} s ({}): no more signs of life for the watchdog; what "
        "rightly takes longer wants a longer WatchdogSec= in its unit",
        stuck_, seconds(silence.ns), status_text());
  }
}

std::optional<std::string> Lifesign::next_status(std::uint64_t now, bool at_once) {
  if (now < next_status_ns_ && !at_once) return std::nullopt;
  std::string text = (stuck_.empty() ? "" : "STUCK: the " + stuck_ + " does not get on; ") +
                     (told_stopping_ ? "stopping; " : "") + status_text();
  if (text == said_) return std::nullopt;
  said_ = text;
  next_status_ns_ = now + kStatusEveryNs;
  return text;
}

}  // namespace tailrace
