#include "tests/torch/model_testing.hpp"

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <utility>

#include "producer/errors.hpp"
#include "tests/torch/script_file.hpp"

namespace tailrace {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "tailrace_torch_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

namespace {

// The same tests run on a GPU where TAILRACE_TEST_DEVICE is "cuda".
DeviceConfig device_under_test() {
  const char* name = std::getenv("TAILRACE_TEST_DEVICE");
  const bool cuda = name != nullptr && std::string(name) == "cuda";
  return {cuda ? DeviceConfig::Kind::kCuda : DeviceConfig::Kind::kCpu, 0};
}

}  // namespace

ModelBench::ModelBench() : device(make_device(device_under_test())) {
  source.batch_size = 2;
  config.kind = ModelKind::kTorchscript;
  set_input(Dtype::kFloat32, {3});
  set_values<float>({0, 1, 2, 3, 4, 5});
}

void ModelBench::set_input(Dtype dtype, std::vector<std::int64_t> item_shape) {
  spec = {dtype, std::move(item_shape), false};
  input.assign(spec.item_bytes() * source.batch_size, std::byte{0});
}

void ModelBench::set_script(const std::string& body) {
  config.path = folder.file("model.pt");
  write_script(config.path, body);
}

std::vector<OutputTensor> ModelBench::on_host(std::vector<OutputTensor> outputs) const {
  for (OutputTensor& output : outputs) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(output.span_bytes);
    device->copy_to_host(*bytes, output.data);
    output.data = bytes->data();
    output.keep_alive = bytes;
  }
  return outputs;
}

void ModelBench::load() { model = load_model(config, egress, source, spec, *device); }

std::vector<OutputTensor> ModelBench::run(std::uint64_t number, std::size_t rows) {
  const auto uploader = device->make_uploader(input.size(), 1);
  uploader->submit(0, input);
  const std::size_t row_count = rows == SIZE_MAX ? source.batch_size : rows;
  auto outputs = model->run({BatchNumber{number}, row_count, uploader->acquire(0)});
  uploader->release(0);
  uploader->wait(0);
  return on_host(std::move(outputs));
}

std::string ModelBench::load_error() {
  try {
    load();
  } catch (const ModelError& error) {
    return error.what();
  }
  return {};
}

}  // namespace tailrace
