#include "producer/torch/deeplab_v3.hpp"

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>

#include <array>
#include <string>
#include <vector>

namespace tailrace {
namespace {

using torch::nn::BatchNorm2d;
using torch::nn::Conv2d;

/// Padded so that stride 1 keeps the size.
Conv2d make_conv(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, std::int64_t stride = 1,
                 std::int64_t dilation = 1) {
  return Conv2d(torch::nn::Conv2dOptions(inputs, outputs, kernel)
                    .stride(stride)
                    .padding(dilation * (kernel / 2))
                    .dilation(dilation)
                    .bias(false));
}

at::Tensor resized(const at::Tensor& tensor, at::IntArrayRef size) {
  return at::upsample_bilinear2d(tensor, size, /*align_corners=*/false);
}

/// Convolution and batch norm as entries `first` and `first + 1` of one of torchvision's Sequentials.
class ConvNorm : public torch::nn::Module {
 public:
  explicit ConvNorm(Conv2d conv, int first = 0)
      : conv_(register_module(std::to_string(first), conv)),
        norm_(register_module(std::to_string(first + 1), BatchNorm2d(conv->options.out_channels()))) {}

  at::Tensor forward(const at::Tensor& x) { return norm_(conv_(x)); }

 private:
  Conv2d conv_;
  BatchNorm2d norm_;
};

/// Residual block: 1x1, 3x3 (which carries the stride, as in torchvision), 1x1 to four times `width`.
class Bottleneck : public torch::nn::Module {
 public:
  Bottleneck(std::int64_t inputs, std::int64_t width, std::int64_t stride, std::int64_t dilation,
             bool downsample)
      : conv1_(register_module("conv1", make_conv(inputs, width, 1))),
        bn1_(register_module("bn1", BatchNorm2d(width))),
        conv2_(register_module("conv2", make_conv(width, width, 3, stride, dilation))),
        bn2_(register_module("bn2", BatchNorm2d(width))),
        conv3_(register_module("conv3", make_conv(width, 4 * width, 1))),
        bn3_(register_module("bn3", BatchNorm2d(4 * width))) {
    if (downsample)
      downsample_ =
          register_module("downsample", std::make_shared<ConvNorm>(make_conv(inputs, 4 * width, 1, stride)));
  }

  at::Tensor forward(const at::Tensor& x) {
    at::Tensor y = bn1_(conv1_(x)).relu_();
    y = bn2_(conv2_(y)).relu_();
    y = bn3_(conv3_(y));
    return y.add_(downsample_ ? downsample_->forward(x) : x).relu_();
  }

 private:
  Conv2d conv1_;
  BatchNorm2d bn1_;
  Conv2d conv2_;
  BatchNorm2d bn2_;
  Conv2d conv3_;
  BatchNorm2d bn3_;
  std::shared_ptr<ConvNorm> downsample_;
};

/// A row of modules named "0", "1", …, applied one after the other.
template <typename Layer>
class Chain : public torch::nn::Module {
 public:
  void append(std::shared_ptr<Layer> layer) {
    layers_.push_back(register_module(std::to_string(layers_.size()), std::move(layer)));
  }

  at::Tensor forward(at::Tensor x) {
    for (const auto& layer : layers_) x = layer->forward(x);
    return x;
  }

 private:
  std::vector<std::shared_ptr<Layer>> layers_;
};

using Stage = Chain<Bottleneck>;

struct StageShape {
  std::int64_t inputs, width;
  int blocks;
  std::int64_t stride, first_dilation, dilation;
};

// replace_stride_with_dilation = [False, True, True]: the first block of such a stage keeps the dilation
// before.
constexpr std::array<StageShape, 4> kStages{{
    {64, 64, 3, 1, 1, 1},
    {256, 128, 4, 2, 1, 1},
    {512, 256, 6, 1, 1, 2},
    {1024, 512, 3, 1, 2, 4},
}};

std::shared_ptr<Stage> make_stage(const StageShape& shape) {
  auto stage = std::make_shared<Stage>();
  stage->append(
      std::make_shared<Bottleneck>(shape.inputs, shape.width, shape.stride, shape.first_dilation, true));
  for (int block = 1; block < shape.blocks; ++block)
    stage->append(std::make_shared<Bottleneck>(4 * shape.width, shape.width, 1, shape.dilation, false));
  return stage;
}

constexpr std::int64_t kFeatures = 2048;  // of the backbone
constexpr std::int64_t kWidth = 256;      // of the head

/// Atrous spatial pyramid pooling: five views of the features, side by side, projected to one.
class Aspp : public torch::nn::Module {
 public:
  Aspp() {
    const auto convs = register_module("convs", std::make_shared<torch::nn::Module>());
    const auto add = [&](int index, const Conv2d& conv, int first) {
      return convs->register_module(std::to_string(index), std::make_shared<ConvNorm>(conv, first));
    };
    local_ = {add(0, make_conv(kFeatures, kWidth, 1), 0), add(1, make_conv(kFeatures, kWidth, 3, 1, 12), 0),
              add(2, make_conv(kFeatures, kWidth, 3, 1, 24), 0),
              add(3, make_conv(kFeatures, kWidth, 3, 1, 36), 0)};
    pooled_ = add(4, make_conv(kFeatures, kWidth, 1), 1);
    project_ = register_module("project", std::make_shared<ConvNorm>(make_conv(5 * kWidth, kWidth, 1)));
  }

  at::Tensor forward(const at::Tensor& x) {
    std::vector<at::Tensor> views;
    for (const auto& conv : local_) views.push_back(conv->forward(x).relu_());
    const at::Tensor mean = at::adaptive_avg_pool2d(x, {1, 1});
    views.push_back(resized(pooled_->forward(mean).relu_(), x.sizes().slice(2)));
    return project_->forward(at::cat(views, 1)).relu_();
  }

 private:
  std::vector<std::shared_ptr<ConvNorm>> local_;
  std::shared_ptr<ConvNorm> pooled_;
  std::shared_ptr<ConvNorm> project_;
};

}  // namespace

class ResNet50 : public torch::nn::Module {
 public:
  ResNet50()
      : conv1_(register_module("conv1", make_conv(3, 64, 7, 2))),
        bn1_(register_module("bn1", BatchNorm2d(64))) {
    for (std::size_t i = 0; i < kStages.size(); ++i)
      stages_.push_back(register_module("layer" + std::to_string(i + 1), make_stage(kStages.at(i))));
  }

  at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = at::max_pool2d(bn1_(conv1_(images)).relu_(), 3, 2, 1);
    for (const auto& stage : stages_) x = stage->forward(x);
    return x;
  }

 private:
  Conv2d conv1_;
  BatchNorm2d bn1_;
  std::vector<std::shared_ptr<Stage>> stages_;
};

class DeepLabHead : public torch::nn::Module {
 public:
  explicit DeepLabHead(std::int64_t classes)
      : aspp_(register_module("0", std::make_shared<Aspp>())),
        conv_(register_module("1", make_conv(kWidth, kWidth, 3))),
        norm_(register_module("2", BatchNorm2d(kWidth))),
        logits_(register_module("4", Conv2d(torch::nn::Conv2dOptions(kWidth, classes, 1)))) {}

  at::Tensor forward(const at::Tensor& features) {
    return logits_(norm_(conv_(aspp_->forward(features))).relu_());
  }

 private:
  std::shared_ptr<Aspp> aspp_;
  Conv2d conv_;
  BatchNorm2d norm_;
  Conv2d logits_;
};

DeepLabV3::DeepLabV3(std::int64_t classes)
    : backbone_(register_module("backbone", std::make_shared<ResNet50>())),
      classifier_(register_module("classifier", std::make_shared<DeepLabHead>(classes))) {
  eval();
}

at::Tensor DeepLabV3::forward(const at::Tensor& images) {
  return resized(classifier_->forward(backbone_->forward(images)), images.sizes().slice(2));
}

}  // namespace tailrace
