#include "producer/torch/output_tensor.hpp"

#include "producer/errors.hpp"
#include "producer/torch/dtype.hpp"
#include "producer/torch/output_tree.hpp"

namespace tailrace {
namespace {

void require_plain(const OutputLeaf& leaf, const OutputRules& rules) {
  const at::Tensor& tensor = leaf.tensor;
  if (tensor.is_nested() || tensor.layout() != at::kStrided)
    throw ModelError("output \"" + leaf.name + "\" is a sparse or nested tensor; make it dense in the model");
  if (tensor.device() != rules.device)
    throw ModelError("output \"" + leaf.name + "\" (" + describe(tensor) + ") is on " +
                     tensor.device().str() + ", expected on " + rules.device.str());
  if (!dtype_of(tensor.scalar_type()))
    throw ModelError("output \"" + leaf.name + "\" has dtype " + std::string(name_of(tensor.scalar_type())) +
                     ", which cannot be passed on; convert it in the model");
}

at::Tensor converted(const at::Tensor& tensor, const std::string& name, at::ScalarType type) {
  if (tensor.is_complex() && !c10::isComplexType(type))
    throw ModelError("output \"" + name + "\" is " + std::string(name_of(tensor.scalar_type())) +
                     "; egress.dtype = \"" + std::string(name_of(type)) + "\" would drop its imaginary part");
  return tensor.to(type);
}

at::Tensor dense(const at::Tensor& tensor) {
  if (tensor.is_conj() || tensor.is_neg()) return tensor.resolve_conj().resolve_neg().contiguous();
  // A tensor without elements may have any strides: give it the usual ones.
  if (tensor.numel() == 0 || !tensor.is_non_overlapping_and_dense()) return tensor.contiguous();
  return tensor;
}

/// Strides as NumPy would write them where the tensor is contiguous: Torch leaves those of sizes 0 and 1
/// open.
std::vector<std::int64_t> strides_of(const at::Tensor& tensor) {
  if (!tensor.is_contiguous()) return tensor.strides().vec();
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.dim()));
  std::int64_t stride = 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(tensor.sizes()[i], 1);
  }
  return strides;
}

}  // namespace

OutputTensor make_output(const OutputLeaf& leaf, std::int64_t rows, const OutputRules& rules) {
  require_plain(leaf, rules);
  at::Tensor tensor = leaf.tensor;
  const bool per_row = tensor.dim() > 0 && tensor.size(0) == rules.batch_size;
  if (per_row && rows != rules.batch_size) tensor = tensor.narrow(0, 0, rows);
  if (rules.dtype) tensor = converted(tensor, leaf.name, scalar_type_of(*rules.dtype));
  tensor = dense(tensor);
  OutputTensor output;
  output.name = leaf.name;
  output.shape = {*dtype_of(tensor.scalar_type()), tensor.sizes().vec(), strides_of(tensor)};
  output.per_row = per_row;
  output.data = tensor.const_data_ptr();
  output.span_bytes = static_cast<std::size_t>(tensor.numel()) * tensor.element_size();
  output.keep_alive = std::make_shared<at::Tensor>(std::move(tensor));
  return output;
}

}  // namespace tailrace
