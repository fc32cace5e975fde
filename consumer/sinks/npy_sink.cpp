#include "consumer/sinks/npy_sink.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "consumer/sinks/npy.hpp"
#include "consumer/sinks/output_name.hpp"
#include "consumer/sinks/select_tensors.hpp"
#include "consumer/sinks/small_floats.hpp"
#include "files/atomic_file.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

void append_widened(TemporaryFile& file, std::span<const std::byte> bytes) {
  constexpr std::size_t kStep = 16'384;
  std::array<float, kStep> wide;
  std::array<Bfloat16, kStep> narrow;
  while (!bytes.empty()) {
    const std::size_t count = std::min(kStep, bytes.size() / sizeof(Bfloat16));
    std::memcpy(narrow.data(), bytes.data(), count * sizeof(Bfloat16));
    for (std::size_t i = 0; i < count; ++i) wide[i] = to_float(narrow[i]);
    file.append(std::as_bytes(std::span(wide).first(count)));
    bytes = bytes.subspan(count * sizeof(Bfloat16));
  }
}

void append_elements(TemporaryFile& file, const StridedView& view, bool widen) {
  for_each_piece(view, [&](std::span<const std::byte> bytes) {
    widen ? append_widened(file, bytes) : file.append(bytes);
    return true;
  });
}

void append_header(TemporaryFile& file, std::string_view descr, std::span<const std::int64_t> shape) {
  const std::string header = npy_header(descr, shape);
  file.append(std::as_bytes(std::span(header)));
}

std::string batch_name(const BatchView& batch) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "batch-%07llu",
                static_cast<unsigned long long>(value_of(batch.number)));  // NOLINT(google-runtime-int)
  return name.data();
}

/// Writes one batch.
class Writer {
 public:
  Writer(const SinkConfig& config, const BatchView& batch, AtomicFiles& files)
      : config_(config), batch_(batch), files_(files) {
    for (std::size_t i = 0; i < batch.rows.size(); ++i)
      if (batch.rows[i].valid()) valid_rows_.push_back(i);
  }

  std::vector<ItemResult> write() {
    if (valid_rows_.empty()) return {};
    const auto tensors = select_tensors(batch_, config_.tensor);
    results_ = results_with_bytes(batch_, tensors);
    for (const SelectedTensor& tensor : tensors) {
      folder_ = tensors.size() == 1 ? "" : folder_name_of_tensor(tensor.name()) + "/";
      format_ = npy_format_of(*tensor.tensor, config_.bf16_raw);
      if (!tensor.per_row())
        write_whole(tensor);
      else if (config_.per_batch)
        write_batch(tensor);
      else
        write_rows(tensor);
    }
    if (config_.per_batch) write_item_indexes();
    files_.commit();
    return std::move(results_);
  }

 private:
  TemporaryFile& create_for_all(const std::string& name, std::string_view descr,
                                std::span<const std::int64_t> shape) {
    const std::string file_name = output_file_name(name, ".npy");
    for (ItemResult& result : results_) result.files.push_back(files_.path_of(file_name));
    TemporaryFile& file = files_.create(file_name);
    append_header(file, descr, shape);
    return file;
  }

  void write_whole(const SelectedTensor& tensor) {
    append_elements(create_for_all(folder_ + batch_name(batch_), format_.descr, tensor.view.sizes),
                    tensor.view, format_.widen);
  }

  void write_batch(const SelectedTensor& tensor) {
    std::vector<std::int64_t> shape = tensor.view.sizes;
    shape[0] = static_cast<std::int64_t>(valid_rows_.size());
    TemporaryFile& file = create_for_all(folder_ + batch_name(batch_), format_.descr, shape);
    for (const std::size_t row : valid_rows_) append_elements(file, tensor.row(row), format_.widen);
  }

  void write_rows(const SelectedTensor& tensor) {
    for (std::size_t i = 0; i < valid_rows_.size(); ++i) {
      const StridedView row = tensor.row(valid_rows_[i]);
      const std::string name = folder_ + output_file_name(batch_.rows[valid_rows_[i]].output_name, ".npy");
      TemporaryFile& file = files_.create(name);
      append_header(file, format_.descr, row.sizes);
      append_elements(file, row, format_.widen);
      results_[i].files.push_back(files_.path_of(name));
    }
  }

  void write_item_indexes() {
    std::vector<std::int64_t> items;
    items.reserve(valid_rows_.size());
    for (const std::size_t i : valid_rows_) items.push_back(static_cast<std::int64_t>(batch_.rows[i].item));
    const std::array<std::int64_t, 1> shape{static_cast<std::int64_t>(items.size())};
    create_for_all(batch_name(batch_) + ".items", info_of(Dtype::kInt64).numpy_descr, shape)
        .append(std::as_bytes(std::span(items)));
  }

  const SinkConfig& config_;
  const BatchView& batch_;
  AtomicFiles& files_;
  std::vector<std::size_t> valid_rows_;
  std::vector<ItemResult> results_;  // one for each valid row
  std::string folder_;               // of the tensor at hand
  NpyFormat format_;
};

}  // namespace

NpySink::NpySink(const SinkConfig& config) : config_(config), folder_(config.path) {}

std::vector<ItemResult> NpySink::process(const BatchView& batch) {
  AtomicFiles files(folder_);
  return Writer(config_, batch, files).write();
}

}  // namespace tailrace
