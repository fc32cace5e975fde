#pragma once

#include <cstdint>
#include <string>

#include "config/value_type.hpp"

namespace tailrace {

// Types of keys whose values are text in a notation of their own.

ValueType device_value(const Field<DeviceConfig>& field);
/// "INDEX/COUNT"
ValueType shard_value(const Field<std::uint32_t>& index, const Field<std::uint32_t>& count);
/// Permissions of files, as octal text.
ValueType mode_value(const Field<std::uint32_t>& field);
/// A Unix group that exists, or empty.
ValueType unix_group_value(const Field<std::string>& field);

}  // namespace tailrace
