#include "producer/torch/output_tree.hpp"

#include <algorithm>
#include <sstream>

#include "producer/errors.hpp"
#include "producer/torch/dtype.hpp"

namespace tailrace {
namespace {

void collect(const at::IValue& value, const std::string& path, std::vector<OutputLeaf>& leaves) {
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  const auto collect_indexed = [&](const auto& values) {
    std::size_t index = 0;
    for (const at::IValue& element : values) collect(element, below(std::to_string(index++)), leaves);
  };
  if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      std::ostringstream key;
      if (entry.key().isString())
        key << entry.key().toStringRef();
      else
        key << entry.key();
      collect(entry.value(), below(key.str()), leaves);
    }
  } else if (value.isTuple()) {
    collect_indexed(value.toTupleRef().elements().vec());
  } else if (value.isList()) {
    collect_indexed(value.toListRef());
  } else if (value.isTensor() && value.toTensor().defined()) {
    leaves.push_back({path.empty() ? "out" : path, value.toTensor(), "Tensor"});
  } else {
    const bool none = value.isNone() || value.isTensor();
    leaves.push_back({path.empty() ? "out" : path, {}, none ? "None" : value.type()->str()});
  }
}

const OutputLeaf* only_tensor(const std::vector<OutputLeaf>& leaves) {
  const auto is_tensor = [](const OutputLeaf& leaf) { return leaf.tensor.defined(); };
  if (std::ranges::count_if(leaves, is_tensor) != 1) return nullptr;
  return &*std::ranges::find_if(leaves, is_tensor);
}

}  // namespace

std::vector<OutputLeaf> leaves_of(const at::IValue& value) {
  std::vector<OutputLeaf> leaves;
  collect(value, "", leaves);
  return leaves;
}

std::string describe(const at::Tensor& tensor) {
  std::ostringstream text;
  text << name_of(tensor.scalar_type()) << " [";
  const char* separator = "";
  for (const std::int64_t size : tensor.sizes()) {
    text << separator << size;
    separator = ", ";
  }
  text << "]";
  return text.str();
}

std::string describe(const std::vector<OutputLeaf>& leaves) {
  std::string text;
  for (const OutputLeaf& leaf : leaves) {
    if (!text.empty()) text += "; ";
    text += leaf.name + ": " + (leaf.tensor.defined() ? describe(leaf.tensor) : leaf.type);
  }
  return text.empty() ? "nothing" : text;
}

std::vector<OutputLeaf> select(const std::vector<OutputLeaf>& leaves,
                               const std::vector<std::string>& wanted) {
  std::vector<OutputLeaf> selected;
  for (const std::string& name : wanted) {
    const auto found = std::ranges::find(leaves, name, &OutputLeaf::name);
    if (found != leaves.end() && found->tensor.defined()) {
      selected.push_back(*found);
    } else if (const OutputLeaf* only = only_tensor(leaves);
               only != nullptr && found == leaves.end() && wanted == std::vector<std::string>{"out"}) {
      selected.push_back(*only);
    } else {
      throw ModelError(
          "model.outputs wants \"" + name + "\", which the model " +
          (found == leaves.end() ? "does not return" : "returns as " + found->type + ", not as a tensor") +
          "; it returns " + describe(leaves));
    }
  }
  return selected;
}

}  // namespace tailrace
