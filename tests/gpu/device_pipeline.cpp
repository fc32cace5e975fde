#include "tests/gpu/device_pipeline.hpp"

#include <unistd.h>

#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

std::string unique_name() {
  static int number = 0;
  return "gpu-test-" + std::to_string(getpid()) + "-" + std::to_string(++number);
}

}  // namespace

DevicePipeline::DevicePipeline() : name_(unique_name()), files_(name_, RingFiles::kControlDirectory) {}

DevicePipeline::~DevicePipeline() {
  programs_.clear();
  // Children of a killed run notice it by themselves.
  EXPECT_TRUE(eventually([&] { return !clean_ring(files_); }));
}

void DevicePipeline::SetUp() {
  if (const std::string why = missing_device(); !why.empty()) GTEST_SKIP() << why;
}

std::string DevicePipeline::write_config(const std::string& tables, const std::string& file) const {
  return folder_
      .write(file,
             "[pipeline]\nname = \"" + name_ + "\"\ndevice = \"" + device_under_test() + "\"\n" + tables)
      .string();
}

StartedProgram& DevicePipeline::start(const std::string& program, const std::vector<std::string>& arguments) {
  programs_.push_back(
      std::make_unique<StartedProgram>(arguments, folder_.path(), StartedProgram::Output{"", -1}, program));
  return *programs_.back();
}

StartedProgram& DevicePipeline::start_producer(const std::string& config) {
  return start("tailrace-producer", {"--config", config});
}

}  // namespace tailrace
