#pragma once

#include "config/config.hpp"
#include "systemd/process_name.hpp"

namespace tailrace {

/// Sets up the process-wide spdlog logger: one line format for all processes,
///   2026-11-30T12:00:00.123Z info producer[seg] message
/// on stderr, to LOG.FILE/ROLE-ID.log where configured (rotated by size; a full disk never stops the
/// process), and to the journal (`journal = "auto"`: when stderr is connected to it, and then not to stderr;
/// stderr where there is none), with the fields of JournalSink. A line stays a line and does not come in
/// floods: see LineSink. Call it in main, before other threads. Throws std::system_error if the folder cannot
/// be made.
void set_up_logging(const LogConfig& config, const ProcessName& name);

/// May be called at any time from any thread.
void set_log_level(LogLevel level);

/// Says how often lines were repeated whose time is over; to be called now and then. Any thread.
void sum_up_repeats();

/// The same for all of them: before the process ends.
void finish_logging();

}  // namespace tailrace
