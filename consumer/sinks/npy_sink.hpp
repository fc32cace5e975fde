#pragma once

#include <vector>

#include "config/config.hpp"
#include "consumer/sinks/sink.hpp"
#include "files/output_folder.hpp"

namespace tailrace {

/// `npy`: NumPy arrays in row-major order. Where the sink has one tensor, its files lie in the output folder;
/// where it has several, each has a sub-folder of its name (folder_name_of_tensor), so that names never meet.
///   per item:  OUTPUT_NAME.npy with the row's shape;
///   per batch: batch-0000012.npy with the batch's valid rows, and in the output folder
///   batch-0000012.items.npy with
///              their item indexes (int64).
/// Tensors that have no rows are written once per batch, as batch-0000012.npy, in both modes. A batch without
/// valid rows gives no file. bfloat16 becomes float32 (exact), or stays as its bits in uint16. Throws
/// std::runtime_error for a dtype that NumPy lacks (float8).
class NpySink : public Sink {
 public:
  explicit NpySink(const SinkConfig& config);

  std::vector<ItemResult> process(const BatchView& batch) override;

 private:
  SinkConfig config_;
  OutputFolder folder_;
};

}  // namespace tailrace
