#include "ctl/supervisor.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "config/exit_codes.hpp"
#include "shm/ring_owner.hpp"
#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

class SupervisorOfADyingProducer : public testing::Test {
 protected:
  SupervisorOfADyingProducer() : files_("test-" + std::to_string(getpid()) + "-supervisor", "/dev/shm") {
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
        [](const Supervisor::Process&, int) { return false; });
    supervisor_->start();
  }
  ~SupervisorOfADyingProducer() override { owner_->remove_files(); }

  /// Whether the producer has ended and is not to be started again.
  bool ends() {
    EXPECT_TRUE(eventually([&] {
      supervisor_->do_work(&owner_->ring());
      return supervisor_->producer_code().has_value();
    }));
    return supervisor_->ended();
  }

  RingFiles files_;
  std::optional<RingOwner> owner_;
  std::optional<Supervisor> supervisor_;
};

TEST_F(SupervisorOfADyingProducer, StartsItAgainWhileItsRingIsThere) {
  owner_->set_finished();
  EXPECT_FALSE(ends());
}

TEST_F(SupervisorOfADyingProducer, DoesNotRepeatAJobWhoseRingItHasRemoved) {
  owner_->set_finished();
  owner_->remove_files();
  EXPECT_TRUE(ends());
  EXPECT_EQ(supervisor_->end_code(), kExitDone);
}

TEST_F(SupervisorOfADyingProducer, KnowsSkippedItemsOfAJobWhoseRingItHasRemoved) {
  owner_->ring().producer_counters().add(Counter::kSkippedItems);
  owner_->set_finished();
  owner_->remove_files();
  EXPECT_TRUE(ends());
  EXPECT_EQ(supervisor_->end_code(), kExitSkippedItems);
}

}  // namespace
}  // namespace tailrace
