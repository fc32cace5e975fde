#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tailrace {

/// Header of a .npy file, byte for byte as numpy.save writes it (format 1.0, or 2.0 where the header does not
/// fit): row-major, padded to 64 bytes with room for a growing first dimension. `descr` as in
/// DtypeInfo::numpy_descr. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape);

}  // namespace tailrace
