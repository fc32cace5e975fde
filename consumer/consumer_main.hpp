#pragma once

#include <functional>
#include <memory>
#include <string>

#include "consumer/options.hpp"
#include "consumer/sinks/sink.hpp"

namespace tailrace {

/// A program whose processes work for a group of a pipeline: tailrace-consumer, or one of your own.
struct ConsumerProgram {
  using MakeSink = std::function<std::unique_ptr<Sink>(const ConsumerOptions&)>;

  std::string name;         // for messages and --version
  std::string version;      // for --version
  std::string description;  // for --help
  std::string argument;     // what --help calls the argument ("FOLDER") in ConsumerOptions; empty = none
  /// Called once, in the main thread, before anything is leased: opens what the sink writes to. What it
  /// throws ends the process, FileError with 74 or 77.
  MakeSink make_sink;
};

/// The whole main function of such a program. Command line, log, signals and exit codes are those of
/// tailrace-consumer (`--help` shows them): it waits for the ring, leases batches until the job is finished
/// or the process is asked to stop, asks the ledger before the sink works and tells it afterwards, tries
/// again when the disk is full, sets aside what cannot be done, and moves over to a new ring. Called once, by
/// the main thread, before other threads are started. Returns the exit code; throws nothing.
int consumer_main(int argc, char** argv, const ConsumerProgram& program);

}  // namespace tailrace
