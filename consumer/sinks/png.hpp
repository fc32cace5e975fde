#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tailrace {

/// A PNG file of `height` x `width` pixels with `bands` bytes each (1 = grey, 4 = RGBA), lightly compressed:
/// speed counts more than the last per cent. Built only with TAILRACE_WITH_IMAGES. Throws std::runtime_error.
std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, std::int32_t height,
                                  std::int32_t width, int bands);

}  // namespace tailrace
