#include "tests/ctl/pipeline_fixture.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "ctl/ring_list.hpp"
#include "producer/torch/synthetic_values.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

std::string unique_name() {
  static int number = 0;
  return "test-" + std::to_string(getpid()) + "-" + std::to_string(++number);
}

void check_batch(const std::filesystem::path& path, std::uint64_t number, std::uint64_t rows,
                 std::uint64_t elements) {
  const std::string content = content_of(path);
  const std::size_t payload = rows * elements * sizeof(std::int32_t);
  ASSERT_GT(content.size(), payload) << path;
  ASSERT_EQ((content.size() - payload) % 64, 0U) << path;
  std::vector<std::int32_t> values(rows * elements);
  std::memcpy(values.data(), content.data() + (content.size() - payload), payload);
  for (std::uint64_t row = 0; row < rows; ++row)
    for (std::uint64_t position = 0; position < elements; ++position)
      ASSERT_EQ(values[row * elements + position],
                static_cast<std::int32_t>(synthetic_value(Dtype::kInt32, BatchNumber{number}, row, position)))
          << path << " row " << row;
}

}  // namespace

PipelineFixture::PipelineFixture() : name_(unique_name()), files_(name_, RingFiles::kControlDirectory) {
  std::string name = (std::filesystem::temp_directory_path() / "tailrace run XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = name;
}

PipelineFixture::~PipelineFixture() {
  release();
  programs_.clear();
  // Children of a killed run notice it by themselves.
  EXPECT_TRUE(eventually([&] { return existing_files(files_).empty() || !clean_ring(files_); }));
  std::filesystem::remove_all(folder_);
}

std::string PipelineFixture::write_config(const std::string& groups) const {
  std::string path = (folder_ / "pipe line.toml").string();
  std::ofstream(path) << "[pipeline]\nname = \"" << name_ << "\"\ndevice = \"cpu\"\n"
                      << "[ring]\nslots = " << kSlots << "\n"
                      << "[source]\nkind = \"synthetic\"\nitems = " << kItems
                      << "\nbatch_size = " << kBatchSize << "\nshape = [2]\nworkers = 1\n"
                      << "[model]\nkind = \"synthetic\"\nshape = [" << kElements << "]\ndtype = \"int32\"\n"
                      << groups;
  return path;
}

std::string PipelineFixture::files_group(unsigned processes) const {
  return "[[group]]\nname = \"files\"\nprocesses = " + std::to_string(processes) +
         "\nsink = { kind = \"npy\", path = \"out\", per = \"batch\" }\n";
}

std::string PipelineFixture::held_group(unsigned processes) const {
  // Ends by itself when the folder is gone: it may outlive its consumer's guard, too.
  const std::string script =
      "cat >/dev/null; while [ -d \\\"$0\\\" ] && [ ! -e \\\"$0/go\\\" ]; do sleep 0.02; done";
  return "[[group]]\nname = \"held\"\nprocesses = " + std::to_string(processes) +
         "\nmax_attempts = 0\nsink = { kind = \"exec\", command = [\"/bin/sh\", \"-c\", \"" + script +
         "\", \"" + folder_.string() + "\"] }\n";
}

StartedProgram& PipelineFixture::start(const std::vector<std::string>& arguments,
                                       const StartedProgram::Output& output, const std::string& program) {
  programs_.push_back(std::make_unique<StartedProgram>(arguments, folder_, output, program));
  return *programs_.back();
}

void PipelineFixture::release() const { std::ofstream(folder_ / "go") << '\n'; }

void PipelineFixture::wait_until_held() const {
  const auto stands_still = [](const GroupReport& group) {
    if (group.name == "held") return group.slots.leased > 0 && group.slots.free + group.slots.filling == 0;
    return group.counters[static_cast<std::size_t>(Counter::kBatches)] == kSlots;
  };
  ASSERT_TRUE(eventually([&] {
    const RingReport ring = report();
    return ring.readable() && std::all_of(ring.groups.begin(), ring.groups.end(), stands_still);
  })) << "the ring never filled up";
}

std::vector<pid_t> PipelineFixture::ring_pids() const {
  const RingReport ring = report();
  std::vector<pid_t> pids;
  if (ring.producer && ring.producer->alive) pids.push_back(static_cast<pid_t>(ring.producer->pid));
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.alive) pids.push_back(static_cast<pid_t>(consumer.pid));
  return pids;
}

bool PipelineFixture::ring_is_gone() const { return existing_files(files_).empty(); }

std::vector<std::uint64_t> PipelineFixture::whole_batches() const {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t number = 0; number < kBatches; ++number) {
    const std::string digits = std::to_string(number);
    const auto path = folder_ / "out" / ("batch-" + std::string(7 - digits.size(), '0') + digits + ".npy");
    if (!std::filesystem::exists(path)) continue;
    check_batch(path, number, std::min(kBatchSize, kItems - number * kBatchSize), kElements);
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::uint64_t> PipelineFixture::all_batches() {
  std::vector<std::uint64_t> numbers(kBatches);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace tailrace
