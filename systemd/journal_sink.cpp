#include "systemd/journal_sink.hpp"

#include <sys/uio.h>
#include <unistd.h>

// The C functions would add the place in this file to each line.
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <syslog.h>
#include <systemd/sd-journal.h>

#include "systemd/log_batch.hpp"

namespace tailrace {
namespace {

constexpr const char* kSocket = "/run/systemd/journal/socket";

int priority_of(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::critical:
      return LOG_CRIT;
    case spdlog::level::err:
      return LOG_ERR;
    case spdlog::level::warn:
      return LOG_WARNING;
    case spdlog::level::info:
      return LOG_INFO;
    default:
      return LOG_DEBUG;
  }
}

std::vector<std::string> fields_of_process(const ProcessName& name) {
  std::vector<std::string> fields{"SYSLOG_IDENTIFIER=tailrace-" + name.role, "TAILRACE_ROLE=" + name.role};
  if (!name.pipeline.empty()) fields.push_back("TAILRACE_PIPELINE=" + name.pipeline);
  if (name.group.empty()) return fields;
  fields.push_back("TAILRACE_GROUP=" + name.group);
  fields.push_back("TAILRACE_ID=" + std::to_string(name.id));
  return fields;
}

}  // namespace

JournalSink::JournalSink(const ProcessName& name)
    : prefix_(name.text() + " "), constant_(fields_of_process(name)) {}

bool JournalSink::is_available() { return access(kSocket, W_OK) == 0; }

std::vector<std::string> JournalSink::fields_of(const spdlog::details::log_msg& line) const {
  std::vector<std::string> fields = constant_;
  fields.push_back("PRIORITY=" + std::to_string(priority_of(line.level)));
  if (const auto batch = LogBatch::current())
    fields.push_back("TAILRACE_BATCH=" + std::to_string(value_of(*batch)));
  fields.push_back("MESSAGE=" + prefix_ + std::string(line.payload.data(), line.payload.size()));
  return fields;
}

void JournalSink::sink_it_(const spdlog::details::log_msg& line) {
  std::vector<std::string> fields = fields_of(line);
  std::vector<iovec> parts;
  parts.reserve(fields.size());
  for (std::string& field : fields) parts.push_back({field.data(), field.size()});
  // What cannot be written is lost, as on a full disk: the pipeline goes on.
  sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

}  // namespace tailrace
