#pragma once

#include <torch/nn/module.h>

#include <memory>

namespace tailrace {

/// DeepLabV3 with a ResNet-50 backbone, layer for layer torchvision 0.26's deeplabv3_resnet50 without the
/// auxiliary head: strides of the last two stages replaced by dilation, atrous rates 12, 24 and 36.
/// Parameters and buffers have torchvision's names.
class DeepLabV3 : public torch::nn::Module {
 public:
  explicit DeepLabV3(std::int64_t classes);

  /// [B, 3, H, W] to logits [B, classes, H, W].
  at::Tensor forward(const at::Tensor& images);

 private:
  std::shared_ptr<class ResNet50> backbone_;
  std::shared_ptr<class DeepLabHead> classifier_;
};

}  // namespace tailrace
