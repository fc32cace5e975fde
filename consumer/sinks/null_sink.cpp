#include "consumer/sinks/null_sink.hpp"

#include <fcntl.h>

#include <cerrno>

#include "consumer/sinks/select_tensors.hpp"
#include "files/write_all.hpp"
#include "os/io_error.hpp"

namespace tailrace {

NullSink::NullSink(const SinkConfig& config)
    : tensor_(config.tensor), null_(::open("/dev/null", O_WRONLY | O_CLOEXEC)) {
  if (!null_) throw_io_error(errno, "open", "/dev/null");
}

std::vector<ItemResult> NullSink::process(const BatchView& batch) {
  const auto tensors = select_tensors(batch, tensor_);
  for (const SelectedTensor& tensor : tensors)
    if (const int error = write_all(null_.get(), tensor.tensor->bytes); error != 0)
      throw_io_error(error, "write", "/dev/null");
  return results_with_bytes(batch, tensors);
}

}  // namespace tailrace
