#pragma once

#include <cstdint>

#include "producer/input.hpp"
#include "producer/sources/shard.hpp"

namespace tailrace {

/// `items` items of random values (random_values.hpp says which), each seeded by its index in the whole list:
/// the same on every start. Names are zero-padded indexes. With fixed = true every full batch has the bytes
/// of the shard's first one.
class SyntheticSource : public Source {
 public:
  explicit SyntheticSource(const SourceConfig& config);

  [[nodiscard]] const InputSpec& spec() const override { return spec_; }
  [[nodiscard]] std::uint64_t item_count() const override { return shard_.size(items_); }
  void describe(std::uint64_t index, Row& row) const override;
  void read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const override;
  [[nodiscard]] std::size_t max_name_bytes() const override { return 2 * digits_; }
  [[nodiscard]] std::uint64_t digest() const override { return digest_; }
  [[nodiscard]] bool fixed() const override { return fixed_; }

 private:
  InputSpec spec_;
  Shard shard_;
  std::uint64_t items_;
  std::uint64_t batch_size_;
  bool fixed_;
  std::size_t digits_;
  std::uint64_t digest_ = 0;
};

}  // namespace tailrace
