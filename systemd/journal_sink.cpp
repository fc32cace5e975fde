#include "systemd/journal_sink.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "config/text.hpp"
#include "systemd/log_batch.hpp"

namespace tailrace {
namespace {

constexpr std::string_view kSocket = "/run/systemd/journal/socket";

// sd_journal_sendv() would wait for a journal that hangs, for as long as it hangs.
UniqueFd open_socket() {
  UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto patience = std::chrono::microseconds(JournalSink::kPatience).count();
  const timeval limit{0, patience};
  setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  return fd;
}

// By name each time: a journal that was started again has another socket.
bool send_to_journal(const UniqueFd& fd, const std::string& entry, int flags) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(kSocket.begin(), kSocket.end(), static_cast<char*>(address.sun_path));
  return sendto(fd.get(), entry.data(), entry.size(), flags | MSG_NOSIGNAL,
                reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0;
}

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
  // As the journal names what a program writes to stderr by itself; consumers of one's own have other names.
  std::vector<std::string> fields{std::string("SYSLOG_IDENTIFIER=") + program_invocation_short_name,
                                  "TAILRACE_ROLE=" + name.role};
  if (!name.pipeline.empty()) fields.push_back("TAILRACE_PIPELINE=" + name.pipeline);
  if (name.group.empty()) return fields;
  fields.push_back("TAILRACE_GROUP=" + name.group);
  fields.push_back("TAILRACE_ID=" + std::to_string(name.id));
  return fields;
}

}  // namespace

JournalSink::JournalSink(const ProcessName& name)
    : prefix_(name.text() + " "), constant_(fields_of_process(name)), socket_(open_socket()) {}

bool JournalSink::is_available() { return access(kSocket.data(), W_OK) == 0; }

std::vector<std::string> JournalSink::fields_of(const spdlog::details::log_msg& line) const {
  std::vector<std::string> fields = constant_;
  fields.push_back("PRIORITY=" + std::to_string(priority_of(line.level)));
  if (const auto batch = LogBatch::current())
    fields.push_back("TAILRACE_BATCH=" + std::to_string(value_of(*batch)));
  fields.push_back("MESSAGE=" + prefix_ +
                   shortened({line.payload.data(), line.payload.size()}, kMaxLineBytes));
  return fields;
}

void JournalSink::sink_it_(const spdlog::details::log_msg& line) {
  // What cannot be written is lost, as on a full disk: the pipeline goes on.
  if ((lost_ != 0 && !tell_of_lost(line)) || !send(line)) ++lost_;
}

bool JournalSink::send(const spdlog::details::log_msg& line) {
  std::string entry;  // the journal's own format, for values without line breaks
  for (const std::string& field : fields_of(line)) entry += field + '\n';
  return send_to_journal(socket_, entry, lost_ == 0 ? 0 : MSG_DONTWAIT);
}

bool JournalSink::tell_of_lost(const spdlog::details::log_msg& line) {
  const std::string text =
      std::to_string(lost_) + " lines before this one are lost: the journal did not take them";
  if (!send({line.time, {}, line.logger_name, spdlog::level::warn, text})) return false;
  lost_ = 0;
  return true;
}

}  // namespace tailrace
