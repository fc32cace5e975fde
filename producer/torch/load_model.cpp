#include "producer/errors.hpp"
#include "producer/model.hpp"
#include "producer/torch/compute_scope.hpp"
#include "producer/torch/deeplab_network.hpp"
#include "producer/torch/synthetic_network.hpp"
#include "producer/torch/torch_errors.hpp"
#include "producer/torch/torch_model.hpp"
#include "producer/torch/torchscript_network.hpp"

namespace tailrace {
namespace {

std::unique_ptr<Network> make_network(const ModelConfig& config, std::int64_t batch_size,
                                      const Device& device) {
  switch (config.kind) {
    case ModelKind::kDeeplabv3Resnet50:
      return std::make_unique<DeepLabNetwork>(config, device);
    case ModelKind::kTorchscript:
      return std::make_unique<TorchscriptNetwork>(config, device);
    case ModelKind::kSynthetic:
      return std::make_unique<SyntheticNetwork>(config, batch_size, device);
    case ModelKind::kAoti:
      break;
  }
  throw ModelError("model.kind = \"aoti\" is not available in this version; use \"torchscript\"");
}

}  // namespace

std::unique_ptr<Model> load_model(const ModelConfig& config, const EgressConfig& egress,
                                  const SourceConfig& source, const InputSpec& input, Device& device) {
  translated("Torch cannot use " + device.description(), [&] { prepare_process(device, config.precision); });
  const std::int64_t batch_size = source.batch_size;
  TorchModel::Parts parts = translated("the model cannot be made on " + device.description(), [&] {
    const ComputeScope scope(device);
    return TorchModel::Parts{make_network(config, batch_size, device), InputConverter(input, source, device),
                             OutputRules{torch_device_of(device), batch_size, egress.dtype}, config.outputs,
                             config.cuda_graph};
  });
  return std::make_unique<TorchModel>(std::move(parts), device);
}

}  // namespace tailrace
