#include "producer/sources/synthetic_source.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "producer/sources/list_digest.hpp"
#include "producer/sources/random_values.hpp"

namespace tailrace {
namespace {

constexpr std::size_t kMinNameDigits = 6;

}  // namespace

SyntheticSource::SyntheticSource(const SourceConfig& config)
    : spec_{.dtype = config.dtype, .item_shape = config.shape},
      shard_(config),
      items_(config.items),
      batch_size_(config.batch_size),
      fixed_(config.fixed),
      digits_(std::max(kMinNameDigits, std::to_string(items_ - 1).size())) {
  if (items_ == 0) throw std::invalid_argument("source.items is 0: there is nothing to read");
  ListDigest digest;
  digest.add("synthetic");
  digest.add(spec_);
  digest.add(items_);
  digest.add(std::uint64_t{fixed_});
  digest_ = digest.value();
}

void SyntheticSource::describe(std::uint64_t index, Row& row) const {
  const std::uint64_t item = shard_.item(index);
  const std::string number = std::to_string(item);
  row = Row{};
  row.item = item;
  row.name = std::string(digits_ - number.size(), '0') + number;
  row.output_name = row.name;
}

void SyntheticSource::read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const {
  describe(index, row);
  fill_random(bytes, spec_.dtype, shard_.item(fixed_ ? index % batch_size_ : index));
}

}  // namespace tailrace
