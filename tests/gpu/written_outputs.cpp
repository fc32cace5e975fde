#include "tests/gpu/written_outputs.hpp"

#include <cstring>
#include <numeric>

#include "config/exit_codes.hpp"
#include "tests/sources/npy_text.hpp"
#include "tests/torch/script_file.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

std::string numbers(std::size_t count) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  std::string data(count * sizeof values[0], '\0');
  std::memcpy(data.data(), values.data(), data.size());
  return data;
}

}  // namespace

void WrittenOutputs::write_model(const std::string& body, const std::vector<std::string>& outputs) {
  outputs_ = outputs;
  write_script(path("model.pt").string(), body);
  folder_.write("input.npy",
                npy_file(1, npy_header_text("<i4", "(" + std::to_string(kItems) + ", 2, 3, 4, 6)"),
                         numbers(kItems * 2 * 3 * 4 * 6)));
}

WrittenOutputs::Ended WrittenOutputs::run(const std::vector<std::string>& settings) {
  const std::string out = "out-" + std::to_string(++runs_);
  std::string names;
  for (const std::string& output : outputs_) names += (names.empty() ? "\"" : ", \"") + output + "\"";
  const std::string config = write_config(
      "[ring]\nslots = 3\n[source]\nkind = \"arrays\"\npath = \"input.npy\"\nworkers = 2\nbatch_size = " +
          std::to_string(kBatchSize) + "\n[model]\nkind = \"torchscript\"\npath = \"model.pt\"\noutputs = [" +
          names + "]\n[[group]]\nname = \"files\"\nprocesses = 3\nsink = { kind = \"npy\", path = \"" + out +
          "\" }\n",
      out + ".toml");
  std::vector<std::string> arguments{"run", config, "--set=pipeline.state=" + out + "-state"};
  for (const std::string& setting : settings) arguments.push_back("--set=" + setting);
  auto& program = start("tailrace", arguments);
  EXPECT_EQ(program.wait(), kExitDone) << program.err();
  Ended ended{{}, program.err()};
  if (!fs::exists(path(out))) return ended;
  for (const auto& entry : fs::recursive_directory_iterator(path(out)))
    if (entry.is_regular_file())
      ended.files[fs::relative(entry.path(), path(out)).string()] = content_of(entry.path());
  return ended;
}

std::vector<std::string> WrittenOutputs::differences(const Files& one, const Files& other) {
  std::vector<std::string> names;
  for (const auto& [name, content] : one)
    if (!other.contains(name) || other.at(name) != content) names.push_back(name);
  for (const auto& [name, content] : other)
    if (!one.contains(name)) names.push_back(name);
  return names;
}

}  // namespace tailrace
