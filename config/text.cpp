#include "config/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <vector>

namespace tailrace {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxSlips = 3;

void append_escaped(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else if (byte < 0x20 || byte == 0x7f) {
    std::array<char, 8> code{};
    std::snprintf(code.data(), code.size(), "\\u%04x", byte);
    out += code.data();
  } else {
    out += c;
  }
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// Length of the character that starts with `lead`; 0 = none does.
std::size_t character_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

/// Overlong forms, surrogates, beyond U+10FFFF.
bool is_forbidden(unsigned char lead, unsigned char second) {
  return (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) ||
         (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second >= 0x90);
}

/// Edits (insert, delete, replace) from one text to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view last_part(std::string_view name) {
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    append_escaped(out, c);
  }
  return out + '"';
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) append_escaped(out, c);
  return out;
}

std::string real_text(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  std::size_t end = max_bytes;
  while (end > 0 && is_continuation(text[end])) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string joined(std::span<const std::string> words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = character_bytes(lead);
    if (bytes == 0 || bytes > text.size() - i) return false;
    if (bytes > 1 && is_forbidden(lead, static_cast<unsigned char>(text[i + 1]))) return false;
    if (!std::all_of(text.begin() + i + 1, text.begin() + i + bytes, is_continuation)) return false;
    i += bytes;
  }
  return true;
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::string nearest(std::string_view text, std::span<const std::string> candidates) {
  const std::string wanted = lower_case(text);
  const std::size_t slips_allowed =
      std::min(kMaxSlips, std::max<std::size_t>(1, last_part(wanted).size() / 2));
  std::string best;
  std::size_t best_slips = slips_allowed + 1;
  for (const std::string& candidate : candidates) {
    const std::string lowered = lower_case(candidate);
    if (std::max(lowered.size(), wanted.size()) - std::min(lowered.size(), wanted.size()) >= best_slips)
      continue;
    const std::size_t slips = edit_distance(wanted, lowered);
    if (slips >= best_slips) continue;
    best = candidate;
    best_slips = slips;
  }
  if (!best.empty()) return best;
  const auto same_part =
      std::find_if(candidates.begin(), candidates.end(),
                   [&](const std::string& candidate) { return last_part(candidate) == last_part(wanted); });
  return same_part == candidates.end() ? std::string{} : *same_part;
}

}  // namespace tailrace
