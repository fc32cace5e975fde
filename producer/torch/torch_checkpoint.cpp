#include "producer/torch/torch_checkpoint.hpp"

#include <ATen/ops/from_blob.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "producer/errors.hpp"
#include "producer/torch/dtype.hpp"
#include "producer/torch/pickle_document.hpp"
#include "producer/torch/torch_errors.hpp"

namespace tailrace {
namespace {

using Kind = PickleValue::Kind;

constexpr std::array<std::pair<std::string_view, Dtype>, 10> kStorages{{
    {"torch.FloatStorage", Dtype::kFloat32},
    {"torch.DoubleStorage", Dtype::kFloat64},
    {"torch.HalfStorage", Dtype::kFloat16},
    {"torch.BFloat16Storage", Dtype::kBfloat16},
    {"torch.LongStorage", Dtype::kInt64},
    {"torch.IntStorage", Dtype::kInt32},
    {"torch.ShortStorage", Dtype::kInt16},
    {"torch.CharStorage", Dtype::kInt8},
    {"torch.ByteStorage", Dtype::kUint8},
    {"torch.BoolStorage", Dtype::kBool},
}};

/// The elements of a tuple that has at least `count`.
const std::vector<PickleValue*>& tuple_of(const PickleValue& value, std::size_t count) {
  if (value.kind != Kind::kTuple || value.elements.size() < count)
    throw ModelError("a tensor is described in an unknown way");
  return value.elements;
}

std::vector<std::int64_t> integers_of(const PickleValue& value) {
  std::vector<std::int64_t> integers;
  for (const PickleValue* element : tuple_of(value, 0)) integers.push_back(element->integer);
  return integers;
}

bool is_call(const PickleValue& value, std::string_view callable) {
  return value.kind == Kind::kCall && value.elements[0]->text == callable;
}

const PickleValue* entry_of(const PickleValue& dict, std::string_view key) {
  for (std::size_t i = 0; i < dict.keys.size(); ++i)
    if (dict.keys[i]->kind == Kind::kString && dict.keys[i]->text == key) return dict.values[i];
  return nullptr;
}

class Checkpoint {
 public:
  explicit Checkpoint(const std::string& path) : archive_(path) {}

  StateDict tensors() {
    const auto [bytes, size] = archive_.getRecord("data.pkl");
    const PickleDocument document({static_cast<const char*>(bytes.get()), size});
    const PickleValue* dict = &document.root();
    for (const char* key : {"state_dict", "model"})
      if (const PickleValue* inner = entry_of(*dict, key); inner != nullptr && !inner->keys.empty())
        dict = inner;
    StateDict tensors;
    for (std::size_t i = 0; i < dict->keys.size(); ++i)
      if (const at::Tensor tensor = tensor_of(*dict->values[i]); tensor.defined())
        tensors.insert_or_assign(dict->keys[i]->text, tensor);
    if (tensors.empty()) throw ModelError("there are no tensors in it; save model.state_dict()");
    return tensors;
  }

 private:
  /// Undefined for everything that is no tensor.
  at::Tensor tensor_of(const PickleValue& value) {
    if (is_call(value, "torch._utils._rebuild_parameter")) {
      const PickleValue& inner = *tuple_of(*value.elements[1], 1)[0];
      return is_call(inner, "torch._utils._rebuild_tensor_v2") ? tensor_of(inner) : at::Tensor();
    }
    if (!is_call(value, "torch._utils._rebuild_tensor_v2")) return {};
    const auto& arguments = tuple_of(*value.elements[1], 4);  // storage, offset, size, stride, …
    return view_of(storage_of(*arguments[0]), arguments[1]->integer, integers_of(*arguments[2]),
                   integers_of(*arguments[3]));
  }

  /// A view whose every element lies within `storage`, whatever the file says.
  static at::Tensor view_of(const at::Tensor& storage, std::int64_t offset,
                            const std::vector<std::int64_t>& sizes,
                            const std::vector<std::int64_t>& strides) {
    std::int64_t last = offset;
    bool valid = offset >= 0 && sizes.size() == strides.size();
    for (std::size_t i = 0; valid && i < sizes.size(); ++i) {
      std::int64_t reach = 0;
      valid = sizes[i] >= 0 && strides[i] >= 0 &&
              !__builtin_mul_overflow(std::max<std::int64_t>(sizes[i] - 1, 0), strides[i], &reach) &&
              !__builtin_add_overflow(last, reach, &last);
    }
    const bool empty = std::ranges::find(sizes, 0) != sizes.end();
    if (!valid || (!empty && last >= storage.numel())) throw ModelError("a tensor lies outside its storage");
    return storage.as_strided(sizes, strides, offset);
  }

  at::Tensor storage_of(const PickleValue& value) {
    if (value.kind != Kind::kPersistent) throw ModelError("a tensor has no storage");
    const auto& id = tuple_of(*value.elements[0], 5);  // "storage", class, key, location, number of elements
    const std::string& key = id[2]->text;
    const auto known = storages_.find(key);
    if (known != storages_.end()) return known->second;
    return storages_.emplace(key, read_storage(key, id[1]->text)).first->second;
  }

  at::Tensor read_storage(const std::string& key, const std::string& storage_class) {
    const auto* type =
        std::ranges::find(kStorages, storage_class, &std::pair<std::string_view, Dtype>::first);
    if (type == kStorages.end()) throw ModelError("tensors of " + storage_class + " are not supported");
    auto record = archive_.getRecord("data/" + key);
    const auto bytes = std::make_shared<at::DataPtr>(std::move(std::get<0>(record)));
    const auto count = static_cast<std::int64_t>(std::get<1>(record) / info_of(type->second).bytes);
    return at::from_blob(
        bytes->get(), {count}, [bytes](void*) {}, at::TensorOptions().dtype(scalar_type_of(type->second)));
  }

  caffe2::serialize::PyTorchStreamReader archive_;
  std::map<std::string, at::Tensor> storages_;
};

}  // namespace

StateDict read_checkpoint(const std::string& path) {
  try {
    return translated("", [&] { return Checkpoint(path).tensors(); });
  } catch (const ModelError& error) {
    throw ModelError(path +
                     " cannot be read as what torch.save writes (PyTorch 1.6 or newer): " + error.what());
  }
}

}  // namespace tailrace
