#include "producer/egress/inline.hpp"

#include <utility>

#include "producer/egress/naming_batch.hpp"

namespace tailrace {

InlineEgress::InlineEgress(Device& device, Handler handler)
    : device_(&device), handler_(std::move(handler)) {}

std::span<std::byte> InlineEgress::room_for(std::size_t bytes) {
  if (!memory_ || memory_->bytes().size() < bytes) memory_ = device_->allocate(bytes);
  return memory_->bytes();
}

bool InlineEgress::submit(OutputBatch batch) {
  std::size_t total = 0;
  for (const OutputTensor& tensor : batch.tensors) total += tensor.span_bytes;
  const auto memory = room_for(total);
  BatchView view{batch.number, std::move(batch.rows), {}};
  std::size_t offset = 0;
  for (const OutputTensor& tensor : batch.tensors) {
    const auto bytes = memory.subspan(offset, tensor.span_bytes);
    naming_batch(batch.number, [&] { device_->copy_to_host(bytes, tensor.data); });
    view.tensors.push_back({tensor.name, tensor.shape, tensor.per_row, bytes});
    offset += tensor.span_bytes;
  }
  handler_(view);
  return true;
}

}  // namespace tailrace
