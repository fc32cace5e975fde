#include "producer/torch/state_dict.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "producer/errors.hpp"
#include "producer/torch/safetensors.hpp"
#include "producer/torch/torch_checkpoint.hpp"

namespace tailrace {
namespace {

std::string text_of(at::IntArrayRef sizes) {
  std::ostringstream text;
  text << sizes;
  return text.str();
}

bool may_be_missing(const std::string& name) { return name.ends_with("num_batches_tracked"); }

std::vector<std::string> differences(const StateDict& from, const StateDict& into,
                                     const std::string& ignored_prefix) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : into) {
    const auto source = from.find(name);
    if (source == from.end()) {
      if (!may_be_missing(name)) found.push_back("missing " + name + " " + text_of(tensor.sizes()));
    } else if (source->second.sizes() != tensor.sizes()) {
      found.push_back(name + " is " + text_of(source->second.sizes()) + ", expected " +
                      text_of(tensor.sizes()));
    }
  }
  for (const auto& [name, tensor] : from)
    if (!into.contains(name) && !name.starts_with(ignored_prefix))
      found.push_back("unexpected " + name + " " + text_of(tensor.sizes()));
  return found;
}

}  // namespace

StateDict read_state_dict(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw ModelError(path + " is not there, or not a file");
  return path.ends_with(".safetensors") ? read_safetensors(path) : read_checkpoint(path);
}

void copy_state(const StateDict& from, const StateDict& into, const std::string& path,
                const std::string& ignored_prefix) {
  constexpr std::size_t kShown = 10;
  const std::vector<std::string> found = differences(from, into, ignored_prefix);
  if (!found.empty()) {
    std::string message = path + " does not fit the model:";
    for (std::size_t i = 0; i < std::min(found.size(), kShown); ++i) message += (i ? "; " : " ") + found[i];
    if (found.size() > kShown) message += "; and " + std::to_string(found.size() - kShown) + " more";
    throw ModelError(message);
  }
  for (const auto& [name, tensor] : into)
    if (const auto source = from.find(name); source != from.end()) tensor.copy_(source->second);
}

}  // namespace tailrace
