// SIGKILL after every single machine instruction of the project's code in each transition, and at each border
// of a system call; then recovery by survivors and a healthy cycle.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/shm/support.hpp"

// Where this program's code lies; the linker's names.
extern "C" const char __executable_start;  // NOLINT(bugprone-reserved-identifier)
extern "C" const char etext;

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

/// A point of a transition that another run of it comes to as well.
struct Place {
  int calls = 0;              // not 0: this border of a system call, counted from the transition's beginning
  std::uint64_t address = 0;  // otherwise: before the instruction there,
  int occurrence = 0;         // when it comes to it for so many times,
  int steps = 0;              // and then so many steps
};

/// A child that stops itself before and after the transition, and is stepped in between.
///
/// A step is an instruction of this program, which holds all of the project's code. A call into a shared
/// library is fewer steps than instructions: one to each border of a system call (only there something
/// changes that survives the process), and one back. On other architectures every instruction is a step.
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
    ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_TRACESYSGOOD);
    while (!is_own(instruction_pointer())) resume(PTRACE_SINGLESTEP);  // the way out of raise()
    note_place();
  }
  Stepped(const Stepped&) = delete;
  Stepped& operator=(const Stepped&) = delete;
  ~Stepped() {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  /// False: the transition is over.
  bool step() {
    call_ended_ = false;
    if (is_own(instruction_pointer()) || !(return_to_ || break_at_return()))
      resume(PTRACE_SINGLESTEP);
    else
      resume(PTRACE_SYSCALL);
    if (!WIFSTOPPED(status_)) return false;
    if (at_call()) {
      call_ended_ = ++calls_ % 2 == 0;
      place_ = {calls_, 0, 0, 0};
      return true;
    }
    if (return_to_ && instruction_pointer() == *return_to_ + 1) {
      leave_breakpoint(*return_to_, code_);
      return_to_.reset();
    }
    note_place();
    return WSTOPSIG(status_) == SIGTRAP;
  }
  /// Where it is now.
  [[nodiscard]] const Place& place() const { return place_; }
  /// Goes to a place of an earlier run without stepping. False: this run does not come there, and is over.
  bool run_to(const Place& place) {
    for (int i = 0; i < place.calls; ++i) {
      resume(PTRACE_SYSCALL);
      if (!at_call()) return false;
    }
    if (place.calls == 0 && !run_to_instruction(place)) return false;
    for (int i = 0; i < place.steps; ++i) resume(PTRACE_SINGLESTEP);
    return true;
  }
  /// The last step ended a system call.
  [[nodiscard]] bool call_ended() const { return call_ended_; }

 private:
  void resume(__ptrace_request how) {
    ptrace(how, pid_, nullptr, nullptr);
    waitpid(pid_, &status_, 0);
  }

  [[nodiscard]] bool at_call() const { return WIFSTOPPED(status_) && WSTOPSIG(status_) == (SIGTRAP | 0x80); }
  void note_place() {
    const std::uint64_t at = instruction_pointer();
    if (is_own(at))
      place_ = {0, at, ++occurrences_[at], 0};
    else
      ++place_.steps;
  }

#if defined(__x86_64__)
  [[nodiscard]] user_regs_struct registers() const {
    user_regs_struct all{};
    ptrace(PTRACE_GETREGS, pid_, nullptr, &all);
    return all;
  }
  [[nodiscard]] std::uint64_t instruction_pointer() const {
    return static_cast<std::uint64_t>(
        ptrace(PTRACE_PEEKUSER, pid_, offsetof(user_regs_struct, rip), nullptr));
  }
  [[nodiscard]] static bool is_own(std::uint64_t address) {
    return address >= reinterpret_cast<std::uintptr_t>(&__executable_start) &&
           address < reinterpret_cast<std::uintptr_t>(&etext);
  }
  // At the first instruction of a library's function. False: somebody else has called it.
  bool break_at_return() {
    const auto to = static_cast<std::uint64_t>(ptrace(PTRACE_PEEKDATA, pid_, registers().rsp, nullptr));
    if (!is_own(to)) return false;
    return_to_ = to;
    code_ = set_breakpoint(to);
    return true;
  }
  bool run_to_instruction(const Place& place) {
    for (int i = 1;; ++i) {
      const long code = set_breakpoint(place.address);
      resume(PTRACE_CONT);
      if (!WIFSTOPPED(status_) || WSTOPSIG(status_) != SIGTRAP) return false;
      leave_breakpoint(place.address, code);
      if (i == place.occurrence) return true;
      resume(PTRACE_SINGLESTEP);
    }
  }
  // Returns the code that it hides.
  [[nodiscard]] long set_breakpoint(std::uint64_t address) const {
    constexpr long kBreakpoint = 0xcc;
    const long code = ptrace(PTRACE_PEEKTEXT, pid_, address, nullptr);
    ptrace(PTRACE_POKETEXT, pid_, address, (code & ~0xffL) | kBreakpoint);
    return code;
  }
  // Behind a breakpoint: back to the instruction that it hides.
  void leave_breakpoint(std::uint64_t address, long code) const {
    ptrace(PTRACE_POKETEXT, pid_, address, code);
    user_regs_struct all = registers();
    all.rip = address;
    ptrace(PTRACE_SETREGS, pid_, nullptr, &all);
  }
#else
  [[nodiscard]] static std::uint64_t instruction_pointer() { return 1; }
  [[nodiscard]] static bool is_own(std::uint64_t) { return true; }
  [[nodiscard]] static bool break_at_return() { return false; }
  static void leave_breakpoint(std::uint64_t, long) {}
  bool run_to_instruction(const Place& place) {  // all instructions look alike here
    for (int i = 1; i < place.occurrence; ++i) resume(PTRACE_SINGLESTEP);
    return WIFSTOPPED(status_);
  }
#endif

  pid_t pid_;
  int status_ = 0;
  std::optional<std::uint64_t> return_to_;  // a breakpoint is there: a library's function runs
  long code_ = 0;                           // that the breakpoint hides
  int calls_ = 0;                           // borders of system calls so far
  bool call_ended_ = false;
  std::map<std::uint64_t, int> occurrences_;  // how often it came to each instruction
  Place place_;
};

using Body = std::function<void(const std::function<void()>&)>;

/// Which positions to be killed at: all of them, or, where a transition is many thousand instructions long,
/// those at which the control pages have just changed or a system call (which may take or free a lock) has
/// just ended, and the ones on both sides; between two of these nothing that survives the process changes.
enum class Positions { kAll, kAroundChanges };

std::vector<Place> places_of(const Body& body, Positions which, const Ring& ring) {
  const auto snapshot = [&] {
    const auto* bytes = reinterpret_cast<const char*>(&ring.header());
    return std::string(bytes,
                       control_offsets(ring.geometry().slot_count, ring.geometry().groups.size()).total);
  };
  std::vector<Place> all;
  std::set<std::size_t> wanted;
  Stepped child(body);
  std::string before = snapshot();
  while (child.step()) {
    const std::size_t count = all.size();
    all.push_back(child.place());
    if (which == Positions::kAll) wanted.insert(count);
    const auto* now = reinterpret_cast<const char*>(&ring.header());
    if (!child.call_ended() && std::memcmp(now, before.data(), before.size()) == 0) continue;
    before = snapshot();
    wanted.insert({count == 0 ? 0 : count - 1, count, count + 1});
  }
  std::vector<Place> places;
  for (const std::size_t i : wanted)
    if (i < all.size()) places.push_back(all[i]);
  ::testing::Test::RecordProperty("steps", static_cast<int>(all.size()));
  ::testing::Test::RecordProperty("positions", static_cast<int>(places.size()));
  printf("%zu steps, killed after %zu of them\n", all.size(), places.size());
  return places;
}

// False: killed behind the transition, since this run of it did not come to that place.
bool run_until_killed_at(const Body& body, const Place& place) { return Stepped(body).run_to(place); }

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
  void kill_consumers(
      const std::function<void(const std::function<void()>&, Ring&, ReadyQueue&)>& transition) {
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
    const std::vector<Place> places = places_of(body, Positions::kAll, owner.ring());
    done_by_the_dead();
    commit_everything();
    std::size_t reached = 0;
    for (std::size_t position = 0; position < places.size(); ++position) {
      publish();
      reached += run_until_killed_at(body, places[position]) ? 1 : 0;
      ASSERT_EQ(protocol.find_damage(kMaxParticipants), std::nullopt) << "position " << position;
      done_by_the_dead();
      commit_everything();
      ASSERT_TRUE(protocol.all_done()) << "stuck after position " << position;
      ASSERT_FALSE(HasFatalFailure());
    }
    expect_every_batch_once(number, by_the_dead);
    EXPECT_GT(places.size(), 20U);
    EXPECT_GT(reached, places.size() * 9 / 10) << "the runs differ too much for places to be found again";
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
    const std::vector<Place> places = places_of(body, which, attach(files, RingAccess::kObserver));
    commit_everything();
    healthy_producer();
    std::size_t reached = 0;
    for (std::size_t position = 0; position < places.size(); ++position) {
      reached += run_until_killed_at(body, places[position]) ? 1 : 0;
      commit_everything();
      healthy_producer();
      ASSERT_FALSE(HasFatalFailure()) << "position " << position;
    }
    expect_every_batch_once(below, {});
    EXPECT_GT(places.size(), 20U);
    EXPECT_GT(reached, places.size() * 9 / 10) << "the runs differ too much for places to be found again";
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
  kill_consumers([](const std::function<void()>& mark, Ring& ring, ReadyQueue&) {
    (void)ring.protocol().try_lease(kGroup, {ParticipantId{2}, 5}, LeaseFilter::kAny);
    mark();
    const auto participant = Participant::join(ring, kGroup);
    mark();
  });
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
