#include "ctl/doctor/machine.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "ctl/doctor/machine_files.hpp"
#include "tests/doctor/made_tree.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::uint64_t kGiB = 1ULL << 30;

/// A ring of 8 GiB on a GPU at node 1, pinned, in small pages; its producer is pid 77.
RingFacts ring_facts() {
  RingFacts ring;
  ring.name = "seg";
  ring.data = "/dev/shm/tailrace.seg.data";
  ring.bytes = 8 * kGiB;
  ring.on_gpu = true;
  ring.pinned = true;
  ring.page_bytes = 4096;
  ring.numa_node = 1;
  ring.uid = 1000;
  ring.producer = 77;
  ring.processes = {77};
  return ring;
}

class OfTheMachine : public ::testing::Test {
 protected:
  using Check = std::vector<MachineCheck> (*)(const Machine&, const std::vector<RingFacts>&);

  /// What the group of checks says of `name`; a note that it says nothing where it does not.
  MachineCheck find(Check check, const std::string& name) const {
    for (const MachineCheck& found : check({tree_.root(), systemctl_}, {ring_}))
      if (found.name == name) return found;
    return {"none", CheckLevel::kOk, "", ""};
  }

  testing::MadeTree tree_;
  RingFacts ring_ = ring_facts();
  std::function<std::string(const std::vector<std::string>&)> systemctl_;
};

TEST_F(OfTheMachine, TheDriverIsNamedWithItsGpus) {
  EXPECT_EQ(find(check_device, "driver").level, CheckLevel::kNote);
  tree_.add(
      "/proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build\nGCC version: 12\n");
  tree_.add("/proc/driver/nvidia/gpus/0000:18:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 5\n");
  EXPECT_EQ(find(check_device, "driver").found, "NVIDIA 580.65.06, NVIDIA H200");
}

TEST_F(OfTheMachine, TheLibTorchInUseIsNamed) {
  tree_.add("/proc/77/maps", "7f00-7f01 r-xp 00000000 00:00 1    /opt/torch lib/libtorch_cpu.so\n");
  EXPECT_THAT(find(check_device, "libraries").found, HasSubstr("seg uses /opt/torch lib/libtorch_cpu.so"));
}

TEST_F(OfTheMachine, AProducerFarFromItsGpuIsWarnedOf) {
  tree_.add("/sys/devices/system/node/node1/cpulist", "4-7,12\n");
  tree_.add("/proc/77/status", "Cpus_allowed_list:\t0-3\n");
  EXPECT_EQ(find(check_device, "NUMA").level, CheckLevel::kWarning);
  EXPECT_THAT(find(check_device, "NUMA").remedy, HasSubstr("NUMAMask=1"));
  tree_.add("/proc/77/status", "Cpus_allowed_list:\t0-3,12\n");
  EXPECT_EQ(find(check_device, "NUMA").level, CheckLevel::kOk);
}

TEST_F(OfTheMachine, SlowClocksAndSleepyCpusAreNoted) {
  tree_.add("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  tree_.add("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
  EXPECT_EQ(find(check_device, "CPU governor").level, CheckLevel::kNote);
  EXPECT_EQ(find(check_device, "clock").level, CheckLevel::kNote);
  tree_.add("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  tree_.add("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  EXPECT_EQ(find(check_device, "CPU governor").level, CheckLevel::kOk);
  EXPECT_EQ(find(check_device, "clock").level, CheckLevel::kOk);
}

TEST_F(OfTheMachine, RoomForRingsIsNamed) {
  tree_.add("/dev/shm/x", "");
  EXPECT_THAT(find(check_ring_memory, "ring memory").found, ::testing::StartsWith("/dev/shm: "));
}

TEST_F(OfTheMachine, SmallPagesAreNotedWithWhatGivesHugeOnes) {
  tree_.add("/proc/self/mounts", "tmpfs / tmpfs rw,huge=always 0 0\ntmpfs /dev/shm tmpfs rw,nosuid 0 0\n");
  EXPECT_THAT(find(check_ring_memory, "huge pages").remedy, HasSubstr("remount,huge=within_size /dev/shm"));
  tree_.add("/proc/self/mounts", "tmpfs /dev/shm tmpfs rw,nosuid,huge=advise 0 0\n");
  EXPECT_THAT(find(check_ring_memory, "huge pages").found, HasSubstr("fragmented"));
  tree_.add("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
            "always within_size advise never [deny] force\n");
  EXPECT_THAT(find(check_ring_memory, "huge pages").remedy, HasSubstr("shmem_enabled"));
  ring_.page_bytes = 2U << 20;
  EXPECT_EQ(find(check_ring_memory, "huge pages").level, CheckLevel::kOk);
  ring_.on_gpu = false;
  EXPECT_EQ(find(check_ring_memory, "huge pages").name, "none") << "it makes no difference";
}

TEST_F(OfTheMachine, ALimitOfLockedMemoryBelowTheRingIsWarnedOf) {
  tree_.add("/proc/77/limits",
            "Limit  Soft  Hard\nMax locked memory         8388608      8388608       bytes\n");
  tree_.add("/proc/77/status", "CapEff:\t0000000000000000\n");
  EXPECT_EQ(find(check_limits, "locked memory").level, CheckLevel::kWarning);
  tree_.add("/proc/77/status", "CapEff:\t0000000000004000\n");
  EXPECT_EQ(find(check_limits, "locked memory").level, CheckLevel::kOk) << "it may lock everything";
  tree_.add("/proc/77/status", "CapEff:\t0000000000000000\n");
  tree_.add("/proc/77/limits", "Max locked memory         unlimited      unlimited       bytes\n");
  EXPECT_EQ(find(check_limits, "locked memory").level, CheckLevel::kOk);
  ring_.pinned = false;
  EXPECT_EQ(find(check_limits, "locked memory").level, CheckLevel::kWarning);
}

TEST_F(OfTheMachine, ACgroupThatIsSmallerThanTheRingIsWarnedOf) {
  tree_.add("/proc/77/cgroup", "0::/tailrace.slice/p.service\n");
  tree_.add("/sys/fs/cgroup/tailrace.slice/memory.max", std::to_string(4 * kGiB) + "\n");
  tree_.add("/sys/fs/cgroup/tailrace.slice/p.service/memory.max", "max\n");
  EXPECT_THAT(find(check_limits, "cgroup").found, HasSubstr("may have 4 GiB, the ring alone is 8 GiB"));
}

TEST_F(OfTheMachine, AShareOfTheCpusIsNoted) {
  tree_.add("/proc/77/cgroup", "0::/p.service\n");
  tree_.add("/sys/fs/cgroup/p.service/cpu.max", "150000 100000\n");
  EXPECT_THAT(find(check_limits, "cgroup").found, HasSubstr("may use 1.50 CPUs"));
  tree_.add("/sys/fs/cgroup/p.service/cpu.max", "max 100000\n");
  EXPECT_EQ(find(check_limits, "cgroup").name, "none");
}

TEST_F(OfTheMachine, MemoryThatIsShortIsWarnedOf) {
  tree_.add("/proc/pressure/memory", "some avg10=42.50 avg60=1.0 avg300=0.1 total=1\nfull avg10=1.0\n");
  EXPECT_EQ(find(check_limits, "memory pressure").level, CheckLevel::kWarning);
  tree_.add("/proc/pressure/memory", "some avg10=0.50 avg60=1.0 avg300=0.1 total=1\n");
  EXPECT_EQ(find(check_limits, "memory pressure").level, CheckLevel::kOk);
  tree_.add("/proc/sys/vm/overcommit_memory", "2\n");
  EXPECT_EQ(find(check_limits, "overcommit").level, CheckLevel::kNote);
}

class RemoveIpc : public OfTheMachine {
 protected:
  RemoveIpc() {
    tree_.add("/etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n");
    tree_.add("/run/systemd/seats/seat0", "");
    tree_.add("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\n");
  }
  [[nodiscard]] MachineCheck check() const { return find(check_services, "RemoveIPC"); }
};

TEST_F(RemoveIpc, OfALoginUsersRingIsWarnedOf) {
  EXPECT_EQ(check().level, CheckLevel::kWarning);
  EXPECT_THAT(check().remedy, HasSubstr("loginctl enable-linger ann"));
}

TEST_F(RemoveIpc, DoesNotConcernSystemUsers) {
  ring_.uid = 990;
  EXPECT_EQ(check().level, CheckLevel::kOk);
}

TEST_F(RemoveIpc, IsSwitchedOffByTheLastDropIn) {
  tree_.add("/etc/systemd/logind.conf.d/20-off.conf", "[Login]\nRemoveIPC=no\n");
  EXPECT_EQ(check().level, CheckLevel::kOk);
  tree_.add("/usr/lib/systemd/logind.conf.d/90-on.conf", "[Login]\nRemoveIPC=yes\n");
  EXPECT_EQ(check().level, CheckLevel::kWarning);
}

TEST_F(RemoveIpc, DoesNotHappenToThoseWhoLinger) {
  tree_.add("/var/lib/systemd/linger/ann", "");
  EXPECT_EQ(check().level, CheckLevel::kOk);
}

TEST_F(RemoveIpc, NeedsLogind) {
  std::filesystem::remove_all(tree_.root() / "run/systemd/seats");
  EXPECT_EQ(check().level, CheckLevel::kOk);
}

class Units : public OfTheMachine {
 protected:
  void show(const std::string& text) {
    tree_.add("/run/systemd/system/x", "");
    systemctl_ = [text](const std::vector<std::string>&) { return text; };
  }
  [[nodiscard]] std::vector<CheckLevel> levels() const {
    std::vector<CheckLevel> levels;
    for (const MachineCheck& check : check_services({tree_.root(), systemctl_}, {}))
      levels.push_back(check.level);
    return levels;
  }
};

TEST_F(Units, ThatAreWellAreOk) {
  show(
      "Id=tailrace-producer@seg.service\nActiveState=active\nResult=success\nNRestarts=0\nLimitMEMLOCK="
      "infinity\n"
      "WatchdogUSec=1min\nDropInPaths=\n\nId=tailrace-consumer@seg:masks:1.service\nActiveState="
      "active\nNRestarts=0\n"
      "LimitMEMLOCK=8388608\nWatchdogUSec=30s\nDropInPaths=\n");
  EXPECT_THAT(levels(), ElementsAre(CheckLevel::kOk, CheckLevel::kOk));
}

TEST_F(Units, ThatFailedCannotPinOrHaveNoWatchdogAreNamed) {
  show(
      "Id=tailrace-consumer@seg:masks:1.service\nActiveState=failed\nResult=exit-code\nNRestarts=5\n\n"
      "Id=tailrace-producer@seg.service\nActiveState=active\nNRestarts=0\nLimitMEMLOCK=8388608\n\n"
      "Id=tailrace-consumer@seg:masks:2.service\nActiveState=active\nNRestarts=0\nWatchdogUSec=0\n\n"
      "Id=tailrace-consumer@seg:masks:3.service\nActiveState=active\nNRestarts=3\nWatchdogUSec=30s\n");
  EXPECT_THAT(levels(),
              ElementsAre(CheckLevel::kWarning, CheckLevel::kWarning, CheckLevel::kNote, CheckLevel::kNote));
}

TEST_F(Units, CountAsChangedByDropInsThatTheGeneratorDidNotMake) {
  show(
      "Id=tailrace-exporter.service\nActiveState=active\nWatchdogUSec=30s\nDropInPaths="
      "/run/systemd/generator/tailrace-exporter.service.d/50-tailrace.conf "
      "/etc/systemd/system/tailrace-exporter.service.d/override.conf\n");
  const auto checks = check_services({tree_.root(), systemctl_}, {});
  ASSERT_EQ(checks.size(), 1);
  EXPECT_EQ(checks[0].found,
            "tailrace-exporter.service: active, changed by "
            "/etc/systemd/system/tailrace-exporter.service.d/override.conf");
}

TEST_F(Units, ThatAreNotLoadedAreNotSaidToLackAWatchdog) {
  show("Id=tailrace-exporter.service\nActiveState=inactive\nNRestarts=0\nWatchdogUSec=0\nDropInPaths=\n");
  EXPECT_THAT(levels(), ElementsAre(CheckLevel::kOk));
}

TEST_F(Units, AreLeftOutWhereTheManagerDoesNotAnswer) {
  show("");
  EXPECT_THAT(levels(), IsEmpty());
  systemctl_ = [](const std::vector<std::string>&) -> std::string { throw std::runtime_error("no"); };
  EXPECT_THAT(levels(), IsEmpty());
}

TEST(Storage, IsLookedAtWhereTheConfigurationIsKnown) {
  const testing::MadeTree tree;
  tree.add("/out/x", "");
  Config config;
  config.pipeline.state = tree.root() / "not yet/there";
  config.groups.emplace_back();
  config.groups[0].sink.path = tree.root() / "out";
  std::vector<std::string> names;
  for (const MachineCheck& check : check_storage(config)) names.push_back(check.name);
  EXPECT_THAT(names, ::testing::IsSupersetOf({"state", "output of main"}));
}

TEST_F(OfTheMachine, NothingIsSaidOfAnEmptyOne) {
  ring_ = {};
  for (const MachineCheck& check : check_machine({tree_.root(), {}}, {ring_}, nullptr))
    EXPECT_NE(check.level, CheckLevel::kWarning) << check.name << ": " << check.found;
}

TEST(SmallFiles, AreReadWithCare) {
  EXPECT_EQ(chosen_word("always [advise] never"), "advise");
  EXPECT_EQ(chosen_word("]["), "");
  EXPECT_EQ(chosen_word(""), "");
  EXPECT_THAT(id_list("0-2,8"), ElementsAre(0, 1, 2, 8));
  EXPECT_THAT(id_list("x,3-,,5-4,0-99999999999"), IsEmpty());
  EXPECT_FALSE(number_in("max"));
  EXPECT_FALSE(number_in("99999999999999999999999"));
}

}  // namespace
}  // namespace tailrace
