#pragma once

#include <spdlog/sinks/base_sink.h>

#include <mutex>
#include <string>
#include <vector>

#include "systemd/process_name.hpp"

namespace tailrace {

/// Writes lines to the systemd journal with fields of their own, for `journalctl TAILRACE_GROUP=masks`:
/// TAILRACE_PIPELINE, TAILRACE_ROLE, TAILRACE_GROUP, TAILRACE_ID, and TAILRACE_BATCH where the line is about
/// a batch (LogBatch). Any thread.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit JournalSink(const ProcessName& name);

  /// A journal is there to be written to.
  static bool is_available();
  /// The fields of one line, "NAME=value".
  [[nodiscard]] std::vector<std::string> fields_of(const spdlog::details::log_msg& line) const;

 protected:
  void sink_it_(const spdlog::details::log_msg& line) override;
  void flush_() override {}

 private:
  std::string prefix_;
  std::vector<std::string> constant_;
};

}  // namespace tailrace
