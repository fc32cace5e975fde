#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tailrace {

/// Longest component of an output name; file systems take 255 bytes, the rest is for a sink's suffixes.
inline constexpr std::size_t kMaxOutputComponentBytes = 200;

/// The output name of each item: a relative path without suffix, unique, and safe below any folder (no "..",
/// no empty component, no NUL). Decided from all names together; their order plays no part, except that
/// equal names are numbered.
///
/// * The folder and the stem: "a/b.jpg" → "a/b".
/// * Where stems meet, all of them keep their extension: "img.jpg", "img.png". A name that meets one of
///   these does so too: "img.jpg.png" stays "img.jpg.png".
/// * A name that occurs again gets its count: "a", "a~2", "a~3".
/// * Leading "/", "." and empty components go, ".." becomes "__", NUL becomes "_".
/// * A component longer than kMaxOutputComponentBytes is cut between two UTF-8 characters and ends with a
///   hash of the whole; what still meets after all this gets a hash of its name, too.
std::vector<std::string> output_names(std::span<const std::string> names);

}  // namespace tailrace
