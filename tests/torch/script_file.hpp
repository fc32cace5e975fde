#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tailrace {

/// Saves a TorchScript module whose forward is `body` ("return x + 1", lines indented by four spaces) to
/// `path`. It has a float buffer `count` [1] and a float buffer `weight` [2, 3], both zero.
void write_script(const std::string& path, const std::string& body);

/// Torch's number for each dtype, as TorchScript source has to write it.
std::int64_t script_number_of(const std::string& dtype_name);

}  // namespace tailrace
