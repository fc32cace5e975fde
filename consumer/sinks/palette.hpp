#pragma once

#include <cstdint>
#include <vector>

#include "consumer/sinks/class_mask.hpp"

namespace tailrace {

/// The mask as RGBA for people: class colours of the Pascal VOC colour map, half transparent, so that it can
/// be laid over the picture; class 0 (background) and kIgnoredClass are fully transparent.
std::vector<std::uint8_t> colour_overlay(const Mask& mask);

}  // namespace tailrace
