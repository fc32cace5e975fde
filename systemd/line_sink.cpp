#include "systemd/line_sink.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <utility>

namespace tailrace {
namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// U+0080 to U+009F, which some terminals obey like ESC and a letter.
bool is_c1(std::string_view text, std::size_t at) {
  return text[at] == '\xc2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) >= 0x80 &&
         static_cast<unsigned char>(text[at + 1]) < 0xa0;
}

std::string escaped(unsigned char c) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  return fmt::format("\\x{:02x}", c);
}

}  // namespace

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_c1(text, i))
      line += escaped(static_cast<unsigned char>(text[++i]));
    else if (is_control(static_cast<unsigned char>(text[i])))
      line += escaped(static_cast<unsigned char>(text[i]));
    else
      line += text[i];
  }
  return line;
}

LineSink::LineSink(std::vector<spdlog::sink_ptr> sinks, Clock clock)
    : dist_sink(std::move(sinks)), clock_(std::move(clock)) {}

LineSink::~LineSink() {
  try {
    sum_up(0);
  } catch (const std::exception&) {
    // A full disk: the line is lost like any other.
  }
}

void LineSink::sink_it_(const spdlog::details::log_msg& line) {
  const std::string text = one_line({line.payload.data(), line.payload.size()});
  sum_up(kWindowNs);
  if (!holds_back(text, line.level)) pass_on(text, line);
}

void LineSink::flush_() {
  sum_up(kWindowNs);
  dist_sink::flush_();
}

void LineSink::flush_all() {
  const std::lock_guard lock(mutex_);
  sum_up(0);
  dist_sink::flush_();
}

bool LineSink::holds_back(const std::string& text, spdlog::level::level_enum level) {
  auto found = repeats_.find(text);
  if (found == repeats_.end()) {
    if (repeats_.size() >= kMostTexts)
      std::erase_if(repeats_, [](const auto& entry) { return entry.second.held_back == 0; });
    if (repeats_.size() >= kMostTexts) return false;
    found = repeats_.emplace(text, Repeats{clock_(), 0, 0, level}).first;
  }
  Repeats& repeats = found->second;
  if (repeats.passed < kMostRepeats) {
    ++repeats.passed;
    return false;
  }
  ++repeats.held_back;
  return true;
}

void LineSink::sum_up(std::uint64_t least_age_ns) {
  const std::uint64_t now_ns = clock_();
  std::erase_if(repeats_, [&](const auto& entry) {
    if (now_ns - entry.second.since_ns < least_age_ns) return false;
    if (entry.second.held_back != 0) sum_up(entry.first, entry.second);
    return true;
  });
}

void LineSink::sum_up(const std::string& text, const Repeats& repeats) {
  const double seconds = static_cast<double>(clock_() - repeats.since_ns) / 1e9;
  const std::string sum =
      fmt::format("… {} more like this in {:.0f} s: {}", repeats.held_back, std::ceil(seconds), text);
  pass_on(sum, {spdlog::source_loc{}, "tailrace", repeats.level, sum});
}

void LineSink::pass_on(std::string_view text, const spdlog::details::log_msg& line) {
  spdlog::details::log_msg clean = line;
  clean.payload = {text.data(), text.size()};
  dist_sink::sink_it_(clean);
}

}  // namespace tailrace
