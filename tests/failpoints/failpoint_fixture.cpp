#include "tests/failpoints/failpoint_fixture.hpp"

#include <signal.h>
#include <stdlib.h>

#include <filesystem>

#include "config/exit_codes.hpp"
#include "ledger/job_ledger.hpp"

namespace tailrace {
namespace {

char state_of(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? '-' : stat[name_end + 2];
}

std::vector<std::string> temporary_files(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".tmp") names.push_back(entry.path());
  return names;
}

}  // namespace

StartedProgram& FailpointFixture::start_with(const std::string& orders, const std::string& program,
                                             const std::vector<std::string>& arguments) {
  setenv("TAILRACE_FAILPOINTS", orders.c_str(), 1);
  processes_.push_back(
      std::make_unique<StartedProgram>(arguments, folder_, StartedProgram::Output{"", -1}, program));
  unsetenv("TAILRACE_FAILPOINTS");
  return *processes_.back();
}

const std::string& FailpointFixture::config() {
  // Once: somebody may be reading it.
  if (config_.empty()) config_ = write_config(group_settings());
  return config_;
}

std::string FailpointFixture::group_settings() const {
  return files_group() + "max_attempts = " + std::to_string(max_attempts_) + "\n";
}

StartedProgram& FailpointFixture::start_producer(const std::string& orders,
                                                 const std::vector<std::string>& sets) {
  std::vector<std::string> arguments{"--config=" + config()};
  for (const std::string& value : sets) arguments.push_back("--set=" + value);
  return start_with(orders, "tailrace-producer", arguments);
}

StartedProgram& FailpointFixture::start_consumer(const std::string& orders) {
  const std::string id = std::to_string(processes_.size());
  StartedProgram& consumer =
      start_with(orders, "tailrace-consumer", {"--config=" + config(), "--group=files", "--id=" + id});
  if (orders.find("=kill@") == std::string::npos) consumers_.push_back(&consumer);
  return consumer;
}

void FailpointFixture::expect_killed(StartedProgram& program) {
  EXPECT_EQ(program.wait(), 128 + SIGKILL) << "it never passed its failpoint\n" << program.err();
}

void FailpointFixture::wait_until_stopped(const StartedProgram& program) {
  ASSERT_TRUE(eventually([&] { return state_of(program.pid()) == 'T'; })) << "it never passed its failpoint\n"
                                                                          << program.err();
}

void FailpointFixture::expect_complete(StartedProgram& producer) {
  EXPECT_EQ(producer.wait(), kExitDone) << producer.err();
  expect_nothing_left();
  EXPECT_EQ(whole_batches(), all_batches());
  expect_ledger(kItems, 0);
}

void FailpointFixture::expect_complete_but_one(StartedProgram& producer) {
  EXPECT_EQ(producer.wait(), kExitSkippedItems) << producer.err();
  expect_nothing_left();
  EXPECT_EQ(whole_batches().size(), kBatches - 1);
  expect_ledger(kItems - kBatchSize, kBatchSize);
}

void FailpointFixture::expect_ledger(std::uint64_t done, std::uint64_t set_aside) const {
  const std::string state = folder_ / ".tailrace" / name_;
  EXPECT_TRUE(is_complete(state));
  const std::vector<std::string> groups{"files"};
  const GroupTotals totals = JobLedger(Ledger::open_to_read(state)).totals(groups).front();
  EXPECT_EQ(totals.done, done);
  EXPECT_EQ(totals.set_aside, set_aside);
  EXPECT_EQ(totals.missing, 0U);
}

void FailpointFixture::expect_nothing_left() {
  for (StartedProgram* consumer : consumers_) EXPECT_EQ(consumer->wait(), kExitDone) << consumer->err();
  EXPECT_TRUE(ring_is_gone());
  EXPECT_THAT(temporary_files(folder_), testing::IsEmpty());
}

}  // namespace tailrace
