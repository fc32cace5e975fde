#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shm/dtype.hpp"

namespace tailrace {

/// Fills `bytes` with elements of `dtype` that depend on `seed` and their position alone: element k comes
/// from a 64-bit hash of (seed, k), so nothing depends on the order or number of calls.
///
/// Floats and both parts of complex numbers are nearly normal(0, 1): the scaled sum of four 16-bit uniforms,
/// hence never beyond ±3.47. Narrow floats get the same values rounded towards zero. Integers are uniform
/// over their whole range, bools are fair coins.
void fill_random(std::span<std::byte> bytes, Dtype dtype, std::uint64_t seed);

}  // namespace tailrace
