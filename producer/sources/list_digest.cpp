#include "producer/sources/list_digest.hpp"

#include <xxhash.h>

#include <new>

namespace tailrace {

ListDigest::ListDigest() : state_(XXH3_createState()) {
  if (!state_) throw std::bad_alloc();
  XXH3_64bits_reset(state_.get());
}

void ListDigest::Free::operator()(XXH3_state_s* state) const noexcept { XXH3_freeState(state); }

void ListDigest::add(std::uint64_t value) { XXH3_64bits_update(state_.get(), &value, sizeof value); }

void ListDigest::add(std::string_view text) {
  add(std::uint64_t{text.size()});
  XXH3_64bits_update(state_.get(), text.data(), text.size());
}

void ListDigest::add(const InputSpec& spec) {
  add(static_cast<std::uint64_t>(spec.dtype));
  add(std::uint64_t{spec.item_shape.size()});
  for (const std::int64_t size : spec.item_shape) add(static_cast<std::uint64_t>(size));
}

std::uint64_t ListDigest::value() const { return XXH3_64bits_digest(state_.get()); }

}  // namespace tailrace
