#pragma once

#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "os/unique_fd.hpp"
#include "systemd/process_name.hpp"

namespace tailrace {

/// Writes lines to the systemd journal with fields of their own, for `journalctl TAILRACE_GROUP=masks`:
/// TAILRACE_PIPELINE, TAILRACE_ROLE, TAILRACE_GROUP, TAILRACE_ID, and TAILRACE_BATCH where the line is about
/// a batch (LogBatch). A journal that does not take lines (hung, or waiting for its disk) costs kPatience
/// once; until it takes lines again they are dropped and counted, and then the count is told. Any thread.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr std::chrono::milliseconds kPatience{200};
  static constexpr std::size_t kMaxLineBytes = 32U
                                               << 10;  // a datagram holds it, whatever the machine's limits

  /// Precondition of its lines: no control characters (LineSink).
  explicit JournalSink(const ProcessName& name);

  /// A journal is there to be written to.
  static bool is_available();
  /// The fields of one line, "NAME=value".
  [[nodiscard]] std::vector<std::string> fields_of(const spdlog::details::log_msg& line) const;

 protected:
  void sink_it_(const spdlog::details::log_msg& line) override;
  void flush_() override {}

 private:
  bool send(const spdlog::details::log_msg& line);
  bool tell_of_lost(const spdlog::details::log_msg& line);

  std::string prefix_;
  std::vector<std::string> constant_;
  UniqueFd socket_;
  std::uint64_t lost_ = 0;
};

}  // namespace tailrace
