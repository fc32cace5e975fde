#pragma once

#include <spdlog/sinks/dist_sink.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tailrace {

/// What every line passes on its way to the sinks behind. Control characters are escaped: a line stays a
/// line, whatever file names and programs put into it, and drives no terminal. And a line that is repeated
/// letter by letter more than kMostRepeats times within kWindowNs is counted from then on, and summed up once
/// the window is over, or at flush_all(). Another text is never held back. Any thread.
class LineSink final : public spdlog::sinks::dist_sink<std::mutex> {
 public:
  using Clock = std::function<std::uint64_t()>;  // CLOCK_MONOTONIC, in ns

  static constexpr std::uint32_t kMostRepeats = 5;
  static constexpr std::uint64_t kWindowNs = 30'000'000'000;
  static constexpr std::size_t kMostTexts = 256;  // that are remembered at once

  LineSink(std::vector<spdlog::sink_ptr> sinks, Clock clock);
  ~LineSink() override;

  /// Sums up what was held back, also where its window is not over: at the end of a program.
  void flush_all();

 protected:
  void sink_it_(const spdlog::details::log_msg& line) override;
  void flush_() override;  // sums up what is due

 private:
  struct Repeats {
    std::uint64_t since_ns = 0;
    std::uint32_t passed = 0;
    std::uint64_t held_back = 0;
    spdlog::level::level_enum level = spdlog::level::off;
  };

  bool holds_back(const std::string& text, spdlog::level::level_enum level);
  void sum_up(std::uint64_t least_age_ns);  // those that are as old
  void sum_up(const std::string& text, const Repeats& repeats);
  void pass_on(std::string_view text, const spdlog::details::log_msg& line);

  Clock clock_;
  std::unordered_map<std::string, Repeats> repeats_;
};

/// `text` on one line, with nothing in it that a terminal obeys.
std::string one_line(std::string_view text);

}  // namespace tailrace
