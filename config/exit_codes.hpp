#pragma once

namespace tailrace {

/// What every program of the project exits with; unit files and scripts rely on the numbers (sysexits.h where
/// it fits).
enum ExitCode : int {
  kExitDone = 0,  // or a service drained on SIGTERM
  kExitUnexpected = 1,
  kExitUsage = 2,
  kExitSkippedItems = 3,  // done, with skipped or quarantined items
  kExitDamagedRing = 65,  // or a foreign one, or such a ledger
  kExitNoDevice = 69,     // or no such ring
  kExitGpu = 70,
  kExitIo = 74,        // I/O error, disk full
  kExitTryAgain = 75,  // another producer holds the ring, or out of memory
  kExitPermission = 77,
  kExitConfig = 78,
  kExitInterrupted = 130,  // `run`, items left
  kExitTerminated = 143,
};

}  // namespace tailrace
