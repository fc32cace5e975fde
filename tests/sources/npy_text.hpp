#pragma once

#include <cstdint>
#include <string>

namespace tailrace {

/// A .npy file of the given version around a header text (padded as NumPy does) and data.
inline std::string npy_file(int major, std::string header, const std::string& data) {
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t fixed = 8 + length_bytes;
  while ((fixed + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + data;
}

inline std::string npy_header_text(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

}  // namespace tailrace
