#pragma once

#include <string>

#include "config/config.hpp"

namespace tailrace {

/// Sets up the process-wide spdlog logger: one line format for all processes,
///   2026-11-30T12:00:00.123Z info producer[seg] message
/// on stderr, to LOG.FILE/ROLE-ID.log where configured (rotated by size; a full disk never stops the
/// process), and to the journal (`journal = "auto"`: when stderr is connected to it, and then not to stderr).
/// `identity` is what stands before the message, e.g. "consumer[masks:2]". Call once, in main, before other
/// threads. Throws std::system_error if the folder cannot be made.
void set_up_logging(const LogConfig& config, const std::string& identity);

/// May be called at any time from any thread.
void set_log_level(LogLevel level);

}  // namespace tailrace
