#include "systemd/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace tailrace {
namespace {

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

void set_up_logging(const LogConfig& config, const std::string& identity) {
  std::vector<spdlog::sink_ptr> sinks;
  const bool journal =
      config.journal == JournalMode::kOn || (config.journal == JournalMode::kAuto && stderr_is_journal());
  if (journal) {
    sinks.push_back(std::make_shared<spdlog::sinks::systemd_sink_mt>("tailrace"));
    sinks.back()->set_pattern(identity + " %v");
  } else {
    sinks.push_back(std::make_shared<spdlog::sinks::stderr_sink_mt>());
  }
  if (!config.file.empty()) {
    std::filesystem::create_directories(config.file);
    const auto path = std::filesystem::path(config.file) / file_name_of(identity);
    sinks.push_back(
        std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path, kMaxLogFileBytes, kMaxLogFiles));
  }
  auto logger = std::make_shared<spdlog::logger>("tailrace", sinks.begin(), sinks.end());
  for (const auto& sink : sinks)
    if (!journal || sink != sinks.front())
      sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(
          "%Y-%m-%dT%H:%M:%S.%eZ %l " + identity + " %v", spdlog::pattern_time_type::utc));
  logger->flush_on(spdlog::level::info);
  logger->set_error_handler([](const std::string&) {});  // a full disk must not stop, or flood, the process
  spdlog::set_default_logger(std::move(logger));
  set_log_level(config.level);
}

void set_log_level(LogLevel level) { spdlog::default_logger()->set_level(to_spdlog(level)); }

}  // namespace tailrace
