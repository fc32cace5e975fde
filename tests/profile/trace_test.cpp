#include "producer/trace.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

/// A model that multiplies matrices, and a recorder beside it.
class ATrace : public ::testing::Test {
 protected:
  ATrace() {
    bench_.set_script("return torch.matmul(x, x.t())");
    bench_.load();
  }

  [[nodiscard]] std::unique_ptr<TraceRecorder> recorder() const {
    return make_trace_recorder(path_, *bench_.device);
  }

  /// Names of what was recorded, with what kind of event each is.
  [[nodiscard]] std::set<std::pair<std::string, std::string>> events() const {
    std::set<std::pair<std::string, std::string>> events;
    const auto trace = nlohmann::json::parse(std::ifstream(path_));
    for (const auto& event : trace.at("traceEvents"))
      if (event.contains("cat")) events.emplace(event.at("cat"), event.at("name"));
    return events;
  }

  ModelBench bench_;
  std::string path_ = bench_.folder.file("a \"trace\".json");
};

const std::pair<std::string, std::string> kMatmul{"cpu_op", "aten::matmul"};

TEST_F(ATrace, HoldsWhatTheModelDidBetweenStartAndStop) {
  const auto recorder = this->recorder();
  recorder->start();
  bench_.run();
  recorder->stop();
  EXPECT_THAT(events(), Contains(kMatmul));
}

TEST_F(ATrace, HoldsNothingOfWhatCameBeforeAndAfter) {
  const auto recorder = this->recorder();
  bench_.run();
  recorder->start();
  recorder->stop();
  bench_.run();
  EXPECT_THAT(events(), Not(Contains(kMatmul)));
}

TEST_F(ATrace, OfAGpuHoldsKernelsAndCopies) {
  if (!bench_.device->is_cuda()) GTEST_SKIP() << "no CUDA device";
  const auto recorder = this->recorder();
  recorder->start();
  bench_.run();
  recorder->stop();
  std::set<std::string> kinds;
  for (const auto& [kind, name] : events()) kinds.insert(kind);
  EXPECT_THAT(kinds, ::testing::IsSupersetOf({"kernel", "gpu_memcpy", "cuda_runtime"}));
}

TEST_F(ATrace, CanBeRecordedAgain) {
  for (int i = 0; i < 2; ++i) {
    const auto recorder = this->recorder();
    recorder->start();
    bench_.run();
    recorder->stop();
    EXPECT_THAT(events(), Contains(kMatmul));
    std::filesystem::remove(path_);
  }
}

TEST_F(ATrace, ThatIsNotStoppedLeavesNoFileAndNoRecording) {
  {
    const auto recorder = this->recorder();
    recorder->start();
    bench_.run();
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  const auto recorder = this->recorder();
  recorder->start();
  recorder->stop();
  EXPECT_THAT(events(), Not(Contains(kMatmul)));
}

TEST_F(ATrace, IsRefusedBeforeTheRunWhereItsFolderIsMissing) {
  EXPECT_THROW((void)make_trace_recorder(path_ + "/none/trace.json", *bench_.device), std::invalid_argument);
}

/// No file grows beyond this while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit lower{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &lower);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(ATrace, ThatCannotBeWrittenToItsEndIsAnErrorAndNoFile) {
  const auto recorder = this->recorder();
  recorder->start();
  bench_.run();
  try {
    const FileSizeLimit limit(1000);
    recorder->stop();
    ADD_FAILURE() << "no error";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), EIO);
    EXPECT_THAT(error.what(), HasSubstr("was cut off"));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace tailrace
