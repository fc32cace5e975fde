#include "consumer/sinks/palette.hpp"

#include <array>
#include <cstring>

namespace tailrace {
namespace {

constexpr std::uint8_t kAlpha = 160;

using Colour = std::array<std::uint8_t, 4>;

/// The VOC development kit's rule: bit 3k + channel of the class becomes bit 7 - k of that channel.
constexpr Colour voc_colour(unsigned index) {
  Colour colour{0, 0, 0, kAlpha};
  for (unsigned k = 0; k < 3; ++k)
    for (unsigned channel = 0; channel < 3; ++channel) {
      const unsigned bit = index >> (3 * k + channel) & 1U;
      colour[channel] = static_cast<std::uint8_t>(colour[channel] | bit << (7 - k));
    }
  return colour;
}

constexpr std::array<Colour, 256> make_palette() {
  std::array<Colour, 256> palette{};
  for (unsigned index = 1; index < kIgnoredClass; ++index) palette[index] = voc_colour(index);
  return palette;
}

constexpr std::array<Colour, 256> kPalette = make_palette();

}  // namespace

std::vector<std::uint8_t> colour_overlay(const Mask& mask) {
  std::vector<std::uint8_t> pixels(mask.classes.size() * sizeof(Colour));
  std::uint8_t* to = pixels.data();
  for (const std::uint8_t index : mask.classes) {
    std::memcpy(to, kPalette[index].data(), sizeof(Colour));
    to += sizeof(Colour);
  }
  return pixels;
}

}  // namespace tailrace
