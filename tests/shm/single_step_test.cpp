// SIGKILL after every single machine instruction of each transition of the real code; then recovery by
// survivors and a healthy cycle.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <map>

#include "tests/shm/support.hpp"

namespace tailrace {
namespace {

using testing::attach;
using testing::checked_batch;
using testing::own;
using testing::publish_batch;
using testing::small_spec;
using testing::TempFolder;

constexpr GroupId kGroup{0};
constexpr std::chrono::nanoseconds kNoSpin{0};

RingSpec one_group() {
  RingSpec spec = small_spec();
  spec.groups = {{"one", 0}};
  return spec;
}

/// A child that stops itself before and after the transition, and is stepped in between.
class Stepped {
 public:
  /// `body` gets a function to call where stepping begins and ends.
  explicit Stepped(const std::function<void(const std::function<void()>&)>& body) : pid_(fork()) {
    if (pid_ == 0) {
      ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      try {
        body([] { raise(SIGSTOP); });
      } catch (...) {
      }
      _exit(9);
    }
    waitpid(pid_, &status_, 0);
    if (!WIFSTOPPED(status_) || WSTOPSIG(status_) != SIGSTOP)
      throw std::runtime_error("the child did not come to its transition");
  }
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;
  ~Stepped() {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  /// One instruction. False: the transition is over.
  bool step() {
    ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr);
    waitpid(pid_, &status_, 0);
    return WIFSTOPPED(status_) && WSTOPSIG(status_) == SIGTRAP;
  }
  /// The next instruction enters the kernel.
  [[nodiscard]] bool at_system_call() const {
#if defined(__x86_64__)
    user_regs_struct registers{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &registers);
    const long code = ptrace(PTRACE_PEEKTEXT, pid_, registers.rip, nullptr);
    return (code & 0xffff) == 0x050f;
#else
    return true;  // every position is looked at
#endif
  }

 private:
  pid_t pid_;
  int status_ = 0;
};

using Body = std::function<void(const std::function<void()>&)>;

/// Which positions to be killed at: all of them, or, where a transition is many thousand instructions long,
/// those at which the control pages have just changed or a system call (which may take or free a lock) has
/// just ended, and the ones on both sides; between two of these nothing that survives the process changes.
enum class Positions { kAll, kAroundChanges };

std::vector<int> positions_of(const Body& body, Positions which, const Ring& ring) {
  const auto snapshot = [&] {
    const auto* bytes = reinterpret_cast<const char*>(&ring.header());
    return std::string(bytes,
                       control_offsets(ring.geometry().slot_count, ring.geometry().groups.size()).total);
  };
  std::map<int, bool> positions;
  Stepped child(body);
  std::string before = snapshot();
  int count = 0;
  for (bool called = child.at_system_call(); child.step(); called = child.at_system_call(), ++count) {
    if (which == Positions::kAll) {
      positions[count] = true;
      continue;
    }
    const auto* now = reinterpret_cast<const char*>(&ring.header());
    if (!called && std::memcmp(now, before.data(), before.size()) == 0) continue;
    before = snapshot();
    for (const int near : {count - 1, count, count + 1}) positions[std::max(near, 0)] = true;
  }
  std::vector<int> all;
  for (const auto& [position, wanted] : positions) all.push_back(position);
  ::testing::Test::RecordProperty("instructions", count);
  ::testing::Test::RecordProperty("positions", static_cast<int>(all.size()));
  printf("%d instructions, killed after %zu of them\n", count, all.size());
  return all;
}

void run_until_killed_at(const Body& body, int position) {
  Stepped child(body);
  for (int i = 0; i <= position && child.step(); ++i) {
  }
}

class SingleStep : public ::testing::Test {
 protected:
  void SetUp() override {
    if (testing::kSanitized) GTEST_SKIP() << "sanitizers put their own instructions in between";
  }

  void commit_everything() {
    const Ring ring = attach(files, RingAccess::kConsumer);
    const auto participant = Participant::join(ring, kGroup);
    ASSERT_TRUE(participant);
    Janitor janitor(ring, participant->id(), {});
    janitor.do_work();
    ReadyQueue queue(ring, kGroup, *participant, janitor, kNoSpin);
    for (Lease lease; queue.try_lease(lease) == LeaseOutcome::kLeased;) {
      const BatchView batch = read_descriptor(lease.bytes());
      ++commits[batch.rows.empty() ? value_of(batch.number) : checked_batch(lease)];
      ASSERT_TRUE(lease.commit());
    }
  }

  // Batches that the killed one committed are DONE without anybody of ours having seen them.
  void expect_every_batch_once(std::uint64_t below, const std::map<std::uint64_t, int>& by_the_dead) {
    for (std::uint64_t number = 0; number < below; ++number) {
      const auto dead = by_the_dead.find(number);
      const int count = commits[number] + (dead == by_the_dead.end() ? 0 : dead->second);
      ASSERT_EQ(count, 1) << "batch " << number;
    }
  }

  // Kills a consumer at every position of `body`, with one fresh batch for it each time.
  void kill_consumers(const std::function<void(const std::function<void()>&, Ring&, ReadyQueue&)>& transition,
                      Positions which = Positions::kAll) {
    RingOwner owner = own(files, one_group());
    Janitor janitor(owner.ring(), kProducerId, {});
    FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
    const SlotProtocol protocol = owner.ring().protocol();
    const Body body = [&](const std::function<void()>& mark) {
      Ring ring = attach(files, RingAccess::kConsumer);
      const auto participant = Participant::join(ring, kGroup);
      Janitor own_janitor(ring, participant->id(), {});
      ReadyQueue ready(ring, kGroup, *participant, own_janitor, kNoSpin);
      transition(mark, ring, ready);
      mark();
    };
    std::uint64_t number = 0;
    std::map<std::uint64_t, int> by_the_dead;
    const auto publish = [&] { ASSERT_TRUE(publish_batch(queue, number++)) << "stuck"; };
    const auto done_by_the_dead = [&] {
      for (std::uint32_t s = 0; s < 4; ++s) {
        const ProducerWord word = protocol.producer_word(SlotId{s});
        if (word.state == ProducerState::kReady &&
            protocol.group_word(SlotId{s}, kGroup) == done_word(word.seq) &&
            commits[value_of(read_batch_number(owner.ring().slot(SlotId{s})))] == 0)
          by_the_dead[value_of(read_batch_number(owner.ring().slot(SlotId{s})))] = 1;
      }
    };
    publish();
    const std::vector<int> positions = positions_of(body, which, owner.ring());
    done_by_the_dead();
    commit_everything();
    for (const int position : positions) {
      publish();
      run_until_killed_at(body, position);
      ASSERT_EQ(protocol.find_damage(kMaxParticipants), std::nullopt) << "position " << position;
      done_by_the_dead();
      commit_everything();
      ASSERT_TRUE(protocol.all_done()) << "stuck after position " << position;
      ASSERT_FALSE(HasFatalFailure());
    }
    expect_every_batch_once(number, by_the_dead);
    EXPECT_GT(positions.size(), 20U);
  }

  // Kills a producer at each of the positions of `body`; its successors go on until all is consumed.
  void kill_producers(const Body& body, Positions which) {
    std::uint64_t below = 0;
    const auto healthy_producer = [&] {
      RingOwner owner = own(files, one_group());
      Janitor janitor(owner.ring(), kProducerId, {});
      FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
      below = value_of(owner.start().next);
      for (int i = 0; i < 4; ++i) {
        commit_everything();
        ASSERT_TRUE(publish_batch(queue, below++)) << "stuck";
      }
      commit_everything();
      ASSERT_TRUE(owner.ring().protocol().all_done());
      ASSERT_EQ(owner.ring().protocol().find_damage(kMaxParticipants), std::nullopt);
    };
    healthy_producer();
    const std::vector<int> positions = positions_of(body, which, attach(files, RingAccess::kObserver));
    commit_everything();
    healthy_producer();
    for (const int position : positions) {
      run_until_killed_at(body, position);
      commit_everything();
      healthy_producer();
      ASSERT_FALSE(HasFatalFailure()) << "position " << position;
    }
    expect_every_batch_once(below, {});
    EXPECT_GT(positions.size(), 20U);
  }

  TempFolder folder;
  RingFiles files = folder.files();
  std::map<std::uint64_t, int> commits;
};

TEST_F(SingleStep, OfALease) {
  kill_consumers([](const std::function<void()>& mark, Ring&, ReadyQueue& queue) {
    Lease lease;
    mark();
    (void)queue.try_lease(lease);
    mark();
  });
}

TEST_F(SingleStep, OfACommit) {
  kill_consumers([](const std::function<void()>& mark, Ring&, ReadyQueue& queue) {
    Lease lease;
    (void)queue.try_lease(lease);
    mark();
    lease.commit();
    mark();
  });
}

TEST_F(SingleStep, OfAGiveBack) {
  kill_consumers([](const std::function<void()>& mark, Ring&, ReadyQueue& queue) {
    Lease lease;
    (void)queue.try_lease(lease);
    mark();
    lease.give_back();
    mark();
  });
}

TEST_F(SingleStep, OfAJanitorPass) {
  kill_consumers([](const std::function<void()>& mark, Ring& ring, ReadyQueue&) {
    // A lease of an incarnation that is gone.
    (void)ring.protocol().try_lease(kGroup, {ParticipantId{77}, 5}, LeaseFilter::kAny);
    Janitor janitor(ring, ParticipantId{1}, {});
    mark();
    janitor.do_work();
    mark();
  });
}

TEST_F(SingleStep, OfAJoinWithASweep) {
  kill_consumers(
      [](const std::function<void()>& mark, Ring& ring, ReadyQueue&) {
        (void)ring.protocol().try_lease(kGroup, {ParticipantId{2}, 5}, LeaseFilter::kAny);
        mark();
        const auto participant = Participant::join(ring, kGroup);
        mark();
      },
      Positions::kAroundChanges);
}

TEST_F(SingleStep, OfALeave) {
  kill_consumers([](const std::function<void()>& mark, Ring& ring, ReadyQueue&) {
    auto participant = Participant::join(ring, kGroup);
    mark();
    participant.reset();
    mark();
  });
}

TEST_F(SingleStep, OfAClaimWithTheDescriptorAndThePublication) {
  kill_producers(
      [this](const std::function<void()>& mark) {
        const RingOwner owner = own(files, one_group());
        Janitor janitor(owner.ring(), kProducerId, {});
        FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
        mark();
        auto filling = queue.try_claim();
        if (filling) {
          write_descriptor(filling->bytes(), owner.start().next, {}, {});
          filling->abandon();
          filling.reset();
        }
        mark();
      },
      Positions::kAll);
}

TEST_F(SingleStep, OfAPublication) {
  kill_producers(
      [this](const std::function<void()>& mark) {
        const RingOwner owner = own(files, one_group());
        Janitor janitor(owner.ring(), kProducerId, {});
        FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
        auto filling = queue.try_claim();
        if (!filling) return;
        const std::vector<Row> rows;
        write_descriptor(filling->bytes(), owner.start().next, rows, plan_slot(rows, {}));
        mark();
        filling->publish(1, 1);
        mark();
      },
      Positions::kAll);
}

TEST_F(SingleStep, OfATakeover) {
  {
    RingOwner owner = own(files, one_group());
    Janitor janitor(owner.ring(), kProducerId, {});
    FreeQueue queue(owner.ring(), janitor, kNoSpin, owner.start().next_seq);
    ASSERT_TRUE(publish_batch(queue, 0));
  }
  kill_producers(
      [this](const std::function<void()>& mark) {
        {  // leaves a slot to be recycled, as a killed predecessor does
          const Ring ring = attach(files, RingAccess::kProducer);
          SlotProtocol protocol = ring.protocol();
          if (const auto slot = protocol.find_claimable()) {
            ring.header().cursor.store(std::max<std::uint64_t>(
                ring.header().cursor, value_of(read_batch_number(ring.slot(*slot))) + 1));
            protocol.claim(*slot, next(protocol.highest_seq()));
          }
        }
        mark();
        const RingOwner owner = own(files, one_group());
        mark();
      },
      Positions::kAroundChanges);
}

}  // namespace
}  // namespace tailrace
