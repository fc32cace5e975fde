#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/value_type.hpp"

namespace tailrace {

// Types of keys whose values are arrays.

/// Array of up to `max_rank` sizes of dimensions; the product has to fit in 2^62.
ValueType shape_value(const Field<std::vector<std::int64_t>>& field, std::size_t max_rank);
ValueType image_size_value(const Field<std::uint32_t>& height, const Field<std::uint32_t>& width,
                           std::uint32_t max);
/// Three finite numbers, one for each colour.
ValueType colour_value(const Field<std::vector<double>>& field, bool positive);
ValueType strings_value(const Field<std::vector<std::string>>& field, std::size_t max_count, bool unique);

}  // namespace tailrace
