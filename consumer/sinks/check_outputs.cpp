#include "consumer/sinks/check_outputs.hpp"

#include <vector>

#include "consumer/sinks/class_mask.hpp"
#include "consumer/sinks/npy.hpp"
#include "consumer/sinks/select_tensors.hpp"

namespace tailrace {

void check_outputs(const SinkConfig& config, std::span<const TensorView> outputs) {
  std::vector<const TensorView*> chosen;
  for (const TensorView& output : outputs)
    if (config.tensor.empty() || output.name == config.tensor) chosen.push_back(&output);
  if (chosen.empty()) refuse_name(outputs, config.tensor);
  if (config.kind == SinkKind::kPngMask) require_class_scores(*chosen.front());
  if (config.kind == SinkKind::kNpy)
    for (const TensorView* output : chosen) (void)npy_format_of(*output, config.bf16_raw);
}

}  // namespace tailrace
