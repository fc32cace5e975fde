#pragma once

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/model.hpp"

namespace tailrace {

/// A folder that goes away with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// One model on the device under test with all that load_model wants: change the members, then load().
struct ModelBench {
  ModelBench();

  /// The model gets `item_shape` of `dtype` per item, as it is.
  void set_input(Dtype dtype, std::vector<std::int64_t> item_shape);
  /// A TorchScript module with the given body (see write_script).
  void set_script(const std::string& body);
  void load();

  /// Runs a full batch, or one of `rows` rows; the bytes are `input`'s. The outputs' `data` are in host
  /// memory.
  std::vector<OutputTensor> run(std::uint64_t number = 0, std::size_t rows = SIZE_MAX);
  /// The outputs with their bytes in host memory.
  [[nodiscard]] std::vector<OutputTensor> on_host(std::vector<OutputTensor> outputs) const;
  /// What a load that must fail says; empty if it does not fail with ModelError.
  std::string load_error();

  template <typename Value>
  void set_values(const std::vector<Value>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    input.assign(bytes.begin(), bytes.end());
  }

  TemporaryFolder folder;
  std::unique_ptr<Device> device;
  ModelConfig config;
  EgressConfig egress;
  SourceConfig source;
  InputSpec spec;
  std::unique_ptr<Model> model;
  std::vector<std::byte> input;
};

/// The bytes of an output as they lie in memory, span_bytes long.
template <typename Value>
std::vector<Value> raw_values(const OutputTensor& output) {
  std::vector<Value> values(output.span_bytes / sizeof(Value));
  if (!values.empty()) std::memcpy(values.data(), output.data, output.span_bytes);
  return values;
}

/// The elements in row-major order, found through the strides.
template <typename Value>
std::vector<Value> logical_values(const OutputTensor& output) {
  const std::vector<Value> raw = raw_values<Value>(output);
  std::vector<Value> values;
  std::vector<std::int64_t> index(output.shape.rank(), 0);
  for (std::size_t count = 0; count < raw.size(); ++count) {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < index.size(); ++d) offset += index[d] * output.shape.strides[d];
    values.push_back(raw.at(static_cast<std::size_t>(offset)));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < output.shape.sizes[d]) break;
      index[d] = 0;
    }
  }
  return values;
}

}  // namespace tailrace
