#pragma once

#include <string>

#include "producer/torch/state_dict.hpp"

namespace tailrace {

/// Reads a .safetensors file: an 8-byte little-endian header length, a JSON header {name: {dtype, shape,
/// data_offsets: [begin, end)}}, then the bytes (https://github.com/huggingface/safetensors). Every number of
/// the header is checked against the file before anything is read. Throws ModelError.
StateDict read_safetensors(const std::string& path);

}  // namespace tailrace
