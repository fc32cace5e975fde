#pragma once

#include <optional>
#include <string>

#include "ctl/ring_rates.hpp"

namespace tailrace {

/// A ring for people, in several lines.
std::string status_text(const RingReport& ring, const std::optional<RingRates>& rates);

}  // namespace tailrace
