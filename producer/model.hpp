#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/input.hpp"
#include "shm/batch_view.hpp"

namespace tailrace {

/// One tensor that the model computed, still on the device. Dense in any stride order: its `span_bytes` bytes
/// from `data` hold every element once.
struct OutputTensor {
  std::string name;
  TensorShape shape;
  bool per_row = true;
  const void* data = nullptr;
  std::size_t span_bytes = 0;
  std::shared_ptr<void> keep_alive;  // whoever reads `data` holds this until he is done
};

/// One batch of inputs where the model reads it: in device memory, with CUDA.
struct ModelInput {
  BatchNumber number{0};
  std::size_t row_count = 0;         // real ones; the rest of the batch is there, too
  std::span<const std::byte> bytes;  // of batch_size items
};

/// A model, loaded, probed and warmed up. LibTorch is behind it and nowhere else. Used by the thread that
/// made it (inference mode, autocast and the current stream are thread-local).
class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  /// Runs one batch; the configured outputs in configured order, cut to row_count rows. On CUDA the work is
  /// only enqueued. No output shares memory with `input`. Throws ModelError (wrong outputs), CudaError,
  /// OutOfDeviceMemory.
  virtual std::vector<OutputTensor> run(const ModelInput& input) = 0;

  /// Shapes of a full batch's outputs, found at load by running one; `data` is null.
  [[nodiscard]] virtual const std::vector<OutputTensor>& probed_outputs() const = 0;

  /// How the model runs, where there is something to say; for the log.
  [[nodiscard]] virtual std::string description() const { return {}; }

  /// What somebody should be told about the loaded model (random weights, say), a line each; for the log.
  [[nodiscard]] virtual std::vector<std::string> notes() const { return {}; }
};

/// Loads what `config` names onto `device`, runs one batch of zeros and checks it: names, devices, dtypes.
/// Throws ModelError with what was wanted and what was found.
std::unique_ptr<Model> load_model(const ModelConfig& config, const EgressConfig& egress,
                                  const SourceConfig& source, const InputSpec& input, Device& device);

}  // namespace tailrace
