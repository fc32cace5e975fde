#include "systemd/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "systemd/journal_sink.hpp"
#include "systemd/line_sink.hpp"

namespace tailrace {
namespace {

// One process has one log.
std::shared_ptr<LineSink> line_sink;

constexpr std::size_t kMaxLogFileBytes = 16u << 20;
constexpr std::size_t kMaxLogFiles = 3;

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace:
      return spdlog::level::trace;
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// systemd sets JOURNAL_STREAM to "device:inode" of the stream that it connected; a redirected stderr is
// another file.
bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");  // NOLINT(concurrency-mt-unsafe): before other threads
  struct stat status {};
  if (stream == nullptr || fstat(2, &status) != 0) return false;
  return std::string_view(stream) == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string file_name_of(std::string identity) {
  std::replace_if(
      identity.begin(), identity.end(), [](char c) { return c == '[' || c == ':' || c == '/'; }, '-');
  std::erase(identity, ']');
  return identity + ".log";
}

}  // namespace

void set_up_logging(const LogConfig& config, const ProcessName& name) {
  std::vector<spdlog::sink_ptr> sinks;
  const bool wants_journal =
      config.journal == JournalMode::kOn || (config.journal == JournalMode::kAuto && stderr_is_journal());
  const bool journal = wants_journal && JournalSink::is_available();
  if (journal)
    sinks.push_back(std::make_shared<JournalSink>(name));
  else
    sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  if (!config.file.empty()) {
    std::filesystem::create_directories(config.file);
    const auto path = std::filesystem::path(config.file) / file_name_of(name.text());
    sinks.push_back(
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, kMaxLogFileBytes, kMaxLogFiles));
  }
  for (const auto& sink : sinks)
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %l " + name.text() + " %v", spdlog::pattern_time_type::utc));
  line_sink = std::make_shared<LineSink>(std::move(sinks), monotonic_ns);
  auto logger = std::make_shared<spdlog::logger>("tailrace", line_sink);
  logger->flush_on(spdlog::level::info);
  logger->set_error_handler([](const std::string&) {});  // a full disk must not stop, or flood, the process
  spdlog::set_default_logger(std::move(logger));
  set_log_level(config.level);
  if (config.journal == JournalMode::kOn && !journal)
    spdlog::warn("log.journal is \"on\", but there is no journal here: logging to stderr");
}

void set_log_level(LogLevel level) { spdlog::default_logger()->set_level(to_spdlog(level)); }

void sum_up_repeats() { spdlog::default_logger()->flush(); }

void finish_logging() {
  if (line_sink) line_sink->flush_all();
}

}  // namespace tailrace
