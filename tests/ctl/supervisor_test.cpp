#include "ctl/supervisor.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "config/exit_codes.hpp"
#include "shm/ring_owner.hpp"
#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

TEST(SupervisedProgram, IsNotEndedByAReloadThatComesTooEarly) {
  Child child("program", {"/bin/sh", "-c", "kill -HUP $$; exit 7"}, -1);
  child.start();
  std::optional<int> code;
  EXPECT_TRUE(eventually([&] { return (code = child.try_reap()).has_value(); }));
  EXPECT_EQ(code, 7);
}

class SupervisorOfADyingProducer : public testing::Test {
 protected:
  SupervisorOfADyingProducer() : files_("test-" + std::to_string(getpid()) + "-supervisor", "/dev/shm") {
    folder_ = (std::filesystem::temp_directory_path() / "tailrace-supervisor-XXXXXX").string();
    if (mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("mkdtemp");
    RingSpec spec;
    spec.name = "supervised";
    spec.slot_count = 1;
    spec.slot_bytes = 4096;
    spec.groups = {{"group", 3}};
    owner_.emplace(
        files_, spec, [](const std::string&) {}, [] { return false; });
    std::vector<Supervisor::Process> processes;
    processes.push_back({Child("producer", {"/bin/sh", "-c", "kill -KILL $$"}, -1), {}, {}});
    supervisor_.emplace(
        std::move(processes), [](const std::string&) {},
        [](const Supervisor::Process&, const std::string&) {},
        [](const Supervisor::Process&, int) { return false; });
    supervisor_->start();
  }
  ~SupervisorOfADyingProducer() override {
    owner_->remove_files();
    std::filesystem::remove_all(folder_);
  }

  /// Whether the producer has ended and is not to be started again.
  bool ends() {
    EXPECT_TRUE(eventually([&] {
      supervisor_->do_work(&owner_->ring());
      return supervisor_->producer_code().has_value();
    }));
    return supervisor_->ended();
  }

  std::string folder_;
  RingFiles files_;
  std::optional<RingOwner> owner_;
  std::optional<Supervisor> supervisor_;
};

TEST_F(SupervisorOfADyingProducer, StartsItAgainWhileItsRingIsThere) {
  owner_->set_finished();
  EXPECT_FALSE(ends());
}

TEST_F(SupervisorOfADyingProducer, StartsAConsumerThatLeftForTheNextRingAndCountsNoDeath) {
  std::vector<Supervisor::Process> processes;
  processes.push_back({Child("producer", {"/bin/sleep", "60"}, -1), {}, {}});
  processes.push_back(
      {Child("consumer", {"/bin/sh", "-c", "echo >>" + folder_ + "/starts"}, -1), "group", {}});
  Supervisor supervisor(
      std::move(processes), [](const std::string&) {}, [](const Supervisor::Process&, const std::string&) {},
      [](const Supervisor::Process&, int) { return false; });
  const auto starts = [&] { return content_of(folder_ + "/starts").size(); };
  const auto work_until = [&](std::size_t count) {
    return eventually([&] {
      supervisor.do_work(&owner_->ring());
      return starts() == count;
    });
  };
  owner_->set_finished();
  supervisor.start();
  EXPECT_TRUE(work_until(1));
  owner_->ring().header().ring_state = RingState::kOpen;
  EXPECT_TRUE(work_until(2));
  EXPECT_TRUE(work_until(3)) << "it ended in order, but too early";
  EXPECT_EQ(supervisor.deaths_in("group"), 0U);
  supervisor.kill();
}

}  // namespace
}  // namespace tailrace
