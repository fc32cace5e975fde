#include "systemd/log_batch.hpp"

#include <utility>

namespace tailrace {
namespace {

thread_local std::optional<BatchNumber> current_batch;

}  // namespace

LogBatch::LogBatch(BatchNumber batch) noexcept : outer_(std::exchange(current_batch, batch)) {}
LogBatch::~LogBatch() { current_batch = outer_; }
std::optional<BatchNumber> LogBatch::current() noexcept { return current_batch; }

}  // namespace tailrace
