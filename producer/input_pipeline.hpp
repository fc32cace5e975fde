#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "producer/batch_plan.hpp"
#include "producer/input.hpp"

namespace tailrace {

struct InputPipelineOptions {
  std::uint32_t batch_size = 64;
  std::uint32_t workers = 8;   // decode threads
  std::uint32_t prefetch = 2;  // batches decoded ahead of the one that was asked for
  std::uint32_t held = 1;      // batches that the caller holds at once
  BatchNumber first_batch{0};
  const BatchPlan* plan = nullptr;  // leaves out the batches that are not to be done; nullptr = none
};

/// Reads the batches of a source in order, ahead of time, with a fixed set of buffers: batch b holds the
/// source's positions b * batch_size and following. The content of a batch does not depend on the number of
/// workers. `source` outlives the pipeline. One thread calls next and release; the rest as stated.
class InputPipeline {
 public:
  /// Allocates max(prefetch, 1) + max(held, 1) buffers of batch_size items and starts the workers.
  InputPipeline(const Source& source, const InputPipelineOptions& options, HostAllocator& allocator);
  InputPipeline(const InputPipeline&) = delete;
  InputPipeline& operator=(const InputPipeline&) = delete;

  /// Waits for the items that are being decoded right now, at most one for each worker.
  ~InputPipeline();

  /// The next batch, once it is decoded; it belongs to the caller until released. Null after the last one and
  /// after request_stop. Throws what a worker threw, and std::logic_error when the caller holds every buffer
  /// (it would wait for ever).
  [[nodiscard]] const InputBatch* next();

  /// The next batch if it is decoded already, otherwise null. Throws what a worker threw.
  [[nodiscard]] const InputBatch* try_next();

  /// Gives the buffer of a batch back to the workers; in any order, from any thread.
  void release(const InputBatch& batch);

  /// From now on next() returns null, at once also where it waits. From any thread, not from a signal
  /// handler.
  void request_stop();

  /// The lowest batch at or after `batch` that next() gives; empty: none. From any thread.
  [[nodiscard]] std::optional<BatchNumber> first_from(BatchNumber batch) const;

  /// Items that the workers have read so far. Any thread.
  [[nodiscard]] std::uint64_t rows_read() const noexcept {
    return rows_read_.load(std::memory_order_relaxed);  // only its change is looked at
  }

  [[nodiscard]] std::size_t buffer_count() const { return buffers_.size(); }

  [[nodiscard]] std::size_t batch_bytes() const { return item_bytes_ * batch_size_; }

 private:
  struct Buffer {
    std::unique_ptr<HostMemory> memory;
    InputBatch batch;
    std::uint32_t rows_given = 0;  // to workers; counts the zero rows behind a short last batch, too
    std::uint32_t rows_done = 0;
    bool has_fixed_input = false;  // all rows hold the bytes that every batch of a fixed source has
    bool held = false;             // by the caller
  };
  // Some rows of one buffer, for one worker.
  struct Chunk {
    Buffer* buffer = nullptr;
    std::uint32_t first_row = 0;
    std::uint32_t end_row = 0;
  };

  const InputBatch* take_front();
  void work();
  [[nodiscard]] bool has_chunk() const;
  Chunk take_chunk();
  void open_batch(Buffer& buffer);
  void read_rows(const Chunk& chunk);
  void finish(const Chunk& chunk);
  void fail(std::exception_ptr failure);
  void stop_and_join();
  [[nodiscard]] bool is_ready(const Buffer& buffer) const { return buffer.rows_done == batch_size_; }

  const Source& source_;
  const std::size_t item_bytes_;
  const std::uint32_t batch_size_;
  const std::uint32_t rows_per_chunk_;
  const std::uint64_t batch_count_;
  const BatchPlan* const plan_;

  mutable std::mutex mutex_;  // guards everything below but threads_, except the rows of a taken chunk
  std::condition_variable work_there_;
  std::condition_variable batch_ready_;
  std::vector<Buffer> buffers_;
  std::vector<Buffer*> free_;
  std::vector<Buffer*> opened_;  // being filled or ready, in order of their batches
  std::optional<BatchNumber> next_to_open_;
  std::exception_ptr failure_;
  bool stopping_ = false;

  std::atomic<std::uint64_t> rows_read_{0};
  std::vector<std::thread> threads_;
};

}  // namespace tailrace
