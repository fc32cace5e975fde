#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tailrace::fuzzing {

/// Aborts with `what` unless `holds`: a fuzzer keeps the input that led here.
inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", what.c_str());
  std::abort();
}

}  // namespace tailrace::fuzzing
