#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shm/batch_view.hpp"

namespace tailrace {

/// How one item lies in memory and what the model must see of it.
struct InputSpec {
  Dtype dtype = Dtype::kUint8;
  std::vector<std::int64_t> item_shape;  // as stored: [H, W, 3] for images, the array's row shape, …
  bool image = false;  // uint8 HWC: to be made float CHW, scaled to 0…1 and normalised on the device

  [[nodiscard]] std::size_t item_bytes() const {
    std::size_t bytes = info_of(dtype).bytes;
    for (const std::int64_t size : item_shape) bytes *= static_cast<std::size_t>(size);
    return bytes;
  }
};

/// A finite, ordered list of items: item i is the same on every start. With `shard = "k/n"` a source counts
/// and reads only its part: `index` (0 … item_count()-1) is the position in that part, row.item is the index
/// in the whole list. After construction all methods may be called from any number of threads. Constructors
/// throw (std::system_error, std::invalid_argument) when there is nothing to read at all.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;

  [[nodiscard]] virtual const InputSpec& spec() const = 0;
  [[nodiscard]] virtual std::uint64_t item_count() const = 0;

  /// Sets item, name and output_name of `row`, and clears the rest: what is known without reading.
  virtual void describe(std::uint64_t index, Row& row) const = 0;

  /// Fills `bytes` (spec().item_bytes() long) with item `index` and `row` with what is known of it. A bad
  /// item is not an error: its bytes become zero and `row.skip_reason` says why. item, name and output_name
  /// are always set.
  virtual void read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const = 0;

  /// Longest name + output_name of any item in bytes: what a slot must have room for.
  [[nodiscard]] virtual std::size_t max_name_bytes() const = 0;

  /// Changes when the whole list of items changes (names and order, not contents), or the shape that they
  /// are given; the same for every shard and batch size.
  [[nodiscard]] virtual std::uint64_t digest() const = 0;

  /// Every batch has the same bytes (synthetic, fixed = true): the input may stay on the device.
  [[nodiscard]] virtual bool fixed() const { return false; }
};

/// Host memory that input batches are decoded into: plain, or pinned where a device copies from it.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  virtual ~HostMemory() = default;

  [[nodiscard]] virtual std::span<std::byte> bytes() = 0;
};

/// Makes HostMemory; called once for each prefetch buffer, by the thread that builds the input pipeline.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  virtual std::unique_ptr<HostMemory> allocate(std::size_t bytes) = 0;
};

/// One batch of inputs. `bytes` always has room for batch_size items; rows.size() says how many are real, the
/// rest is zero (a model sees one constant shape, its outputs are cut to rows.size()).
struct InputBatch {
  BatchNumber number{0};
  std::vector<Row> rows;
  std::span<const std::byte> bytes;
  bool resident =
      false;  // from a fixed() source: the same bytes every time, the model may keep them on the device
};

}  // namespace tailrace
