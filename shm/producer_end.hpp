#pragma once

#include "shm/ring_files.hpp"

namespace tailrace {

/// Leaves a word in the ring, if there is one, that its producer, this process, ended with an error: for who
/// asks about the pipeline's health afterwards. To be called by a producer that has left the ring, or never
/// came to it; does nothing where another one has it. Errors are ignored: it is ending because of a worse
/// one.
void note_producer_end(const RingFiles& files, int exit_code) noexcept;

}  // namespace tailrace
