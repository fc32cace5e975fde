#pragma once

#include "consumer/options.hpp"
#include "systemd/stop_signals.hpp"

namespace tailrace {

/// The life of one consumer process: opens its sink, waits for the ring, works until the job is finished or a
/// stop is asked for, moves over to a new ring when the old one is retired. Returns the exit code. Throws
/// what is not to be mended here (FileError at start, DamagedDescriptor, RingMismatch).
int run_consumer(const ConsumerOptions& options, StopSignals& signals);

}  // namespace tailrace
