#include <sstream>
#include <thread>

#include "config/exit_codes.hpp"
#include "tests/gpu/device_pipeline.hpp"
#include "tests/gpu/marker_check.hpp"
#include "tests/gpu/occupied_memory.hpp"
#include "tests/gpu/ring_reader.hpp"

namespace tailrace {
namespace {

using testing::IsEmpty;

constexpr std::uint32_t kSlots = 4;
constexpr std::chrono::minutes kLimit{30};

std::string variable(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

std::vector<std::int64_t> numbers_of(const std::string& list) {
  std::vector<std::int64_t> numbers;
  std::istringstream stream(list);
  for (std::string number; std::getline(stream, number, ',');) numbers.push_back(std::stoll(number));
  return numbers;
}

/// What the environment asks for: TAILRACE_MARKER_BATCHES, TAILRACE_MARKER_SHAPE (of a batch:
/// "64,21,512,512"), TAILRACE_MARKER_SPARE (device memory that is left free once the producer is at work, in
/// batches) and TAILRACE_MARKER_STRATEGY.
struct Load {
  std::string strategy = variable("TAILRACE_MARKER_STRATEGY", "streams");
  // Of the six that the producer needs at once (the model's own, a temporary one, four on their way) it has
  // four from its probe at least.
  std::uint64_t spare_batches = std::stoull(variable("TAILRACE_MARKER_SPARE", "3"));
  MarkerCheck::Job job = asked_for_job();

  [[nodiscard]] std::uint64_t batch_bytes() const {
    return job.batch_size * job.item_elements() * sizeof(float);
  }

 private:
  static MarkerCheck::Job asked_for_job() {
    const bool cuda = tests_cuda();
    const auto shape = numbers_of(variable("TAILRACE_MARKER_SHAPE", cuda ? "16,1024,1024" : "8,64,64"));
    const std::uint64_t batches = std::stoull(variable("TAILRACE_MARKER_BATCHES", "40"));
    const auto batch_size = static_cast<std::uint64_t>(shape.at(0));
    const std::uint64_t missing_rows = batch_size > 1 ? 1 : 0;  // a last batch that is not full
    return {batches * batch_size - missing_rows, batch_size, {shape.begin() + 1, shape.end()}};
  }
};

/// The synthetic model on a device with little memory left, a small ring, and consumers that look at every
/// element as soon as it may be looked at.
class Markers : public DevicePipeline {
 protected:
  StartedProgram& start_producer_of(const Load& load) {
    std::string shape;
    for (const std::int64_t size : load.job.item_shape)
      shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    return start_producer(write_config(
        "[ring]\nslots = " + std::to_string(kSlots) +
        "\n[source]\nkind = \"synthetic\"\nshape = [1]\ndtype = \"uint8\"\nworkers = 1\nitems = " +
        std::to_string(load.job.items) + "\nbatch_size = " + std::to_string(load.job.batch_size) +
        "\n[model]\nkind = \"synthetic\"\nshape = [" + shape + "]\n[egress]\nstrategy = \"" + load.strategy +
        "\"\n[[group]]\nname = \"markers\"\nmax_attempts = 0\n"));
  }

  /// The producer has all that it needs then, and waits. False: it ended before.
  [[nodiscard]] bool wait_for_full_ring(StartedProgram& producer, const Load& load) const {
    const auto ring = wait_for_ring(files_, [&] { return !producer.running(); });
    const auto full = std::min<std::uint64_t>(kSlots, load.job.batches());
    return ring && eventually([&] {
             return !producer.running() || ring->protocol().count(GroupId{0}).ready == full;
           }) &&
           producer.running();
  }

  void leave_little_memory(const Load& load) {
    if (!tests_cuda()) return;
    const std::size_t before = OccupiedMemory::free_bytes();
    occupied_.emplace(load.spare_batches * load.batch_bytes());
    std::cout << "free device memory: " << before << " bytes, now " << OccupiedMemory::free_bytes() << '\n';
  }

  void check_in_threads(StartedProgram& producer, MarkerCheck& check) {
    const unsigned count = std::clamp(std::thread::hardware_concurrency() / 2, 2U, 8U);
    std::atomic<bool> ended{false};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back([&] {
        auto ring = wait_for_ring(files_, [&] { return ended.load(); });
        if (!ring) return;
        RingReader reader(std::move(*ring), state());
        (void)reader.read_to_end([&](const BatchView& batch) { check.check(batch); },
                                 [&] { return ended.load(); });
      });
    EXPECT_EQ(producer.wait(kLimit), kExitDone) << producer.err();
    ended = true;
  }

 private:
  std::optional<OccupiedMemory> occupied_;
};

TEST_F(Markers, AreRightInEveryElementAndComeOnceWithLittleDeviceMemory) {
  const Load load;
  MarkerCheck check(load.job);
  auto& producer = start_producer_of(load);
  ASSERT_TRUE(wait_for_full_ring(producer, load)) << producer.err();
  leave_little_memory(load);
  check_in_threads(producer, check);
  EXPECT_EQ(check.wrong_elements(), 0U);
  EXPECT_THAT(check.faults(), IsEmpty());
  EXPECT_THAT(check.lost_or_doubled(), IsEmpty());
  EXPECT_EQ(check.checked_elements(), load.job.items * load.job.item_elements());
}

}  // namespace
}  // namespace tailrace
