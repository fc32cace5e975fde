#pragma once

#include "producer/device.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// Measures at start what the link out of the device carries, and whether copies into the ring reach that and
/// run beside the model's work: one line for the log, a warning where something is wrong, and a gauge. Does
/// nothing on the CPU, and measures the ring only where it is pinned. Precondition: the slots are pinned if
/// they are to be, and no batch is in flight. Throws CudaError.
void check_link(const Ring& ring, Device& device);

}  // namespace tailrace
