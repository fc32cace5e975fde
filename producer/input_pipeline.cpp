#include "producer/input_pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "os/failpoint.hpp"

namespace tailrace {
namespace {

// Below this many bytes taking a chunk costs more than filling it.
constexpr std::size_t kMinChunkBytes = std::size_t{64} << 10;

std::uint32_t rows_per_chunk(std::size_t item_bytes, std::uint32_t batch_size) {
  const std::size_t rows = (kMinChunkBytes + item_bytes - 1) / item_bytes;
  return static_cast<std::uint32_t>(std::min<std::size_t>(rows, batch_size));
}

std::size_t checked_batch_bytes(const InputSpec& spec, std::uint32_t batch_size) {
  std::size_t bytes = std::size_t{info_of(spec.dtype).bytes} * batch_size;
  for (const std::int64_t size : spec.item_shape)
    if (size <= 0 || __builtin_mul_overflow(bytes, static_cast<std::size_t>(size), &bytes))
      throw std::invalid_argument("the shape of a batch has a size below 1, or overflows 64 bits");
  if (bytes == 0) throw std::invalid_argument("source.batch_size is 0");
  return bytes;
}

}  // namespace

InputPipeline::InputPipeline(const Source& source, const InputPipelineOptions& options,
                             HostAllocator& allocator)
    : source_(source),
      item_bytes_(checked_batch_bytes(source.spec(), options.batch_size) / options.batch_size),
      batch_size_(options.batch_size),
      rows_per_chunk_(rows_per_chunk(item_bytes_, options.batch_size)),
      batch_count_((source.item_count() + options.batch_size - 1) / options.batch_size),
      plan_(options.plan),
      buffers_(std::max(options.prefetch, 1U) + std::max(options.held, 1U)),
      next_to_open_(first_from(options.first_batch)) {
  for (Buffer& buffer : buffers_) {
    buffer.memory = allocator.allocate(batch_bytes());
    buffer.batch.bytes = buffer.memory->bytes().first(batch_bytes());
    free_.push_back(&buffer);
  }
  try {
    for (std::uint32_t i = 0; i < std::max(options.workers, 1U); ++i)
      threads_.emplace_back([this] { work(); });
  } catch (...) {
    stop_and_join();
    throw;
  }
}

InputPipeline::~InputPipeline() { stop_and_join(); }

void InputPipeline::stop_and_join() {
  request_stop();
  for (std::thread& thread : threads_) thread.join();
}

void InputPipeline::request_stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_there_.notify_all();
  batch_ready_.notify_all();
}

const InputBatch* InputPipeline::next() {
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return opened_.empty() && !next_to_open_; };
  const auto has_answer = [&] {
    return stopping_ || failure_ || (!opened_.empty() && is_ready(*opened_.front())) || is_over();
  };
  if (!has_answer()) {
    if (opened_.empty() && free_.empty())
      throw std::logic_error("every input buffer is held: release a batch before asking for another");
    batch_ready_.wait(lock, has_answer);
  }
  return take_front();
}

const InputBatch* InputPipeline::try_next() {
  const std::lock_guard lock(mutex_);
  return take_front();
}

const InputBatch* InputPipeline::take_front() {
  if (failure_) std::rethrow_exception(failure_);
  if (stopping_ || opened_.empty() || !is_ready(*opened_.front())) return nullptr;
  Buffer& buffer = *opened_.front();
  opened_.erase(opened_.begin());
  buffer.held = true;
  return &buffer.batch;
}

void InputPipeline::release(const InputBatch& batch) {
  {
    const std::lock_guard lock(mutex_);
    const auto buffer = std::find_if(buffers_.begin(), buffers_.end(), [&batch](const Buffer& candidate) {
      return &candidate.batch == &batch;
    });
    if (buffer == buffers_.end() || !buffer->held)
      throw std::logic_error("an input batch was released that is not held");
    buffer->held = false;
    free_.push_back(&*buffer);
  }
  work_there_.notify_all();
}

std::optional<BatchNumber> InputPipeline::first_from(BatchNumber batch) const {
  const BatchNumber first = plan_ == nullptr ? batch : plan_->first_from(batch);
  return value_of(first) < batch_count_ ? std::optional(first) : std::nullopt;
}

void InputPipeline::work() {
  while (true) {
    Chunk chunk;
    {
      std::unique_lock lock(mutex_);
      work_there_.wait(lock, [this] { return stopping_ || has_chunk(); });
      if (stopping_) return;
      chunk = take_chunk();
    }
    try {
      failpoint("mid_input");
      read_rows(chunk);
    } catch (...) {
      fail(std::current_exception());
      return;
    }
    finish(chunk);
  }
}

bool InputPipeline::has_chunk() const {
  if (!opened_.empty() && opened_.back()->rows_given < batch_size_) return true;
  return !free_.empty() && next_to_open_;
}

// Only the batch that was opened last can have rows to give: the next one is opened when it has none left.
InputPipeline::Chunk InputPipeline::take_chunk() {
  if (opened_.empty() || opened_.back()->rows_given == batch_size_) open_batch(*free_.back());
  Buffer& buffer = *opened_.back();
  const std::uint32_t first = buffer.rows_given;
  buffer.rows_given = std::min(batch_size_, first + rows_per_chunk_);
  return {.buffer = &buffer, .first_row = first, .end_row = buffer.rows_given};
}

void InputPipeline::open_batch(Buffer& buffer) {
  free_.pop_back();
  opened_.push_back(&buffer);
  const std::uint64_t first_item = value_of(*next_to_open_) * batch_size_;
  buffer.batch.number = *next_to_open_;
  buffer.batch.resident = source_.fixed();
  buffer.batch.rows.resize(std::min<std::uint64_t>(batch_size_, source_.item_count() - first_item));
  buffer.rows_given = 0;
  buffer.rows_done = 0;
  next_to_open_ = first_from(tailrace::next(*next_to_open_));
}

void InputPipeline::read_rows(const Chunk& chunk) {
  InputBatch& batch = chunk.buffer->batch;
  const std::span<std::byte> bytes = chunk.buffer->memory->bytes();
  for (std::uint32_t r = chunk.first_row; r < chunk.end_row; ++r) {
    const std::uint64_t index = value_of(batch.number) * batch_size_ + r;
    failpoint("mid_read");
    const std::span<std::byte> item = bytes.subspan(r * item_bytes_, item_bytes_);
    if (r >= batch.rows.size())
      std::fill(item.begin(), item.end(), std::byte{0});
    else if (chunk.buffer->has_fixed_input)
      source_.describe(index, batch.rows[r]);
    else
      source_.read(index, item, batch.rows[r]);
    rows_read_.fetch_add(1, std::memory_order_relaxed);
  }
}

void InputPipeline::finish(const Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  Buffer& buffer = *chunk.buffer;
  buffer.rows_done += chunk.end_row - chunk.first_row;
  if (!is_ready(buffer)) return;
  buffer.has_fixed_input = source_.fixed() && buffer.batch.rows.size() == batch_size_;
  if (&buffer == opened_.front()) batch_ready_.notify_one();
}

void InputPipeline::fail(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    stopping_ = true;
  }
  work_there_.notify_all();
  batch_ready_.notify_all();
}

}  // namespace tailrace
