#include "consumer/sinks/checksum_sink.hpp"

#include <xxhash.h>
// The widest vectors that the processor has, instead of those that every processor has.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

#include "consumer/sinks/select_tensors.hpp"

namespace tailrace {

std::vector<ItemResult> ChecksumSink::process(const BatchView& batch) {
  const auto tensors = select_tensors(batch, tensor_);
  if (std::none_of(tensors.begin(), tensors.end(), [](const auto& tensor) { return tensor.per_row(); }))
    throw std::runtime_error(
        "the sink checksum needs a tensor that has a row for each item; the selected ones hold one "
        "value for the whole batch");
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (!state) throw std::bad_alloc();
  auto results = results_with_bytes(batch, tensors);
  auto result = results.begin();
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (!batch.rows[i].valid()) continue;
    XXH3_64bits_reset(state.get());
    for (const SelectedTensor& tensor : tensors)
      if (tensor.per_row())
        for_each_stored_piece(tensor.row(i), [&](std::span<const std::byte> bytes) {
          return XXH3_64bits_update(state.get(), bytes.data(), bytes.size()) == XXH_OK;
        });
    (result++)->checksum = XXH3_64bits_digest(state.get());
  }
  return results;
}

}  // namespace tailrace
