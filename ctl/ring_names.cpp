#include "ctl/ring_names.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace tailrace {

std::string_view name_of(AttachState state) noexcept {
  switch (state) {
    case AttachState::kReady:
      return "ready";
    case AttachState::kAbsent:
      return "absent";
    case AttachState::kInitialising:
      return "initialising";
    case AttachState::kRetired:
      return "retired";
    case AttachState::kIncompatible:
      return "incompatible";
    case AttachState::kTooSmall:
      return "too_small";
  }
  return {};
}

std::string_view name_of(RingState state) noexcept {
  switch (state) {
    case RingState::kOpen:
      return "open";
    case RingState::kFinished:
      return "finished";
    case RingState::kRetired:
      return "retired";
  }
  return "unknown";
}

std::string epoch_text(std::uint64_t epoch) {
  std::array<char, 20> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, epoch);
  return text.data();
}

}  // namespace tailrace
