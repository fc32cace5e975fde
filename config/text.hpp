#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tailrace {

// Text helpers of config/: pure functions, any thread.

/// A TOML basic string that is also a JSON string: quotes, backslashes and control characters are escaped.
std::string quote(std::string_view text);

/// `text` with its control characters escaped, for messages.
std::string printable(std::string_view text);

/// The shortest text that reads back as `value` and is a TOML float.
std::string real_text(double value);

/// At most `max_bytes` of `text` and then an ellipsis; never cuts a UTF-8 character.
std::string shortened(std::string_view text, std::size_t max_bytes);

/// The words with `separator` between them.
std::string joined(std::span<const std::string> words, std::string_view separator = ", ");

/// A name of a pipeline or group: [A-Za-z0-9_-]{1,64}.
bool is_name(std::string_view text);

bool is_utf8(std::string_view text);

std::string lower_case(std::string_view text);

/// The candidate that `text` was probably meant to be, or empty: a few slips of the finger away, or with the
/// same last part ("slots" for "ring.slots").
std::string nearest(std::string_view text, std::span<const std::string> candidates);

}  // namespace tailrace
