#pragma once

#include "shm/ready_queue.hpp"
#include "shm/ring.hpp"

namespace tailrace {

/// What a consumer whose queue has answered kFinished makes of it. A producer that drains says FINISHED with
/// batches left; if it dies, its successor opens the ring again, perhaps this moment.
///
/// kFinished: the ring stays finished, and the consumer may leave. kEmpty: no producer is there and batches
/// are left; a successor is to come (waits a moment, so that the caller may ask at once again). Otherwise the
/// ring was opened meanwhile, and this is the queue's new answer, with `lease` where it is kLeased. Used by
/// the consumer's one thread; `lease` must be empty.
[[nodiscard]] LeaseOutcome confirm_finished(const Ring& ring, ReadyQueue& queue, Lease& lease);

}  // namespace tailrace
