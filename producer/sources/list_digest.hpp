#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "producer/input.hpp"

struct XXH3_state_s;

namespace tailrace {

/// XXH3-64 over a sequence of values; strings go in with their length, so that ("ab", "c") ≠ ("a", "bc").
class ListDigest {
 public:
  ListDigest();

  void add(std::uint64_t value);
  void add(std::string_view text);
  void add(const InputSpec& spec);

  [[nodiscard]] std::uint64_t value() const;

 private:
  struct Free {
    void operator()(XXH3_state_s* state) const noexcept;
  };
  std::unique_ptr<XXH3_state_s, Free> state_;
};

}  // namespace tailrace
