#pragma once

#include "consumer/options.hpp"
#include "consumer/sinks/sink.hpp"
#include "systemd/service.hpp"

namespace tailrace {

/// The life of one consumer process: waits for the ring, works until the job is finished (a service: and for
/// the next one, too) or a stop is asked for, moves over to a new ring when the old one is retired. Returns
/// the exit code. Throws what is not to be mended here (FileError at start, DamagedDescriptor, RingMismatch).
int run_consumer(const ConsumerOptions& options, Sink& sink, Service& service);

}  // namespace tailrace
