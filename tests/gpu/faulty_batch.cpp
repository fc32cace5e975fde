#include "tests/gpu/faulty_batch.hpp"

#include <cstring>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "tests/sources/npy_text.hpp"
#include "tests/torch/script_file.hpp"

namespace tailrace {

std::int64_t FaultyBatch::value_of_item(std::uint64_t item) {
  return static_cast<std::int64_t>(item * 37 + 5) % kValues;
}

void FaultyBatch::write_pipeline(const std::string& body, std::optional<std::int64_t> bad_value) {
  write_script(path("model.pt").string(), body);
  write_input(bad_value);
  config_ =
      write_config("[ring]\nslots = " + std::to_string(kEnoughSlots) +
                   "\n[source]\nkind = \"arrays\"\npath = \"input.npy\"\nworkers = 1\nbatch_size = " +
                   std::to_string(kBatchSize) +
                   "\n[model]\nkind = \"torchscript\"\npath = \"model.pt\"\n[[group]]\nname = \"reader\"\n");
}

void FaultyBatch::write_input(std::optional<std::int64_t> bad_value) const {
  std::vector<std::int64_t> values;
  for (std::uint64_t item = 0; item < kBatches * kBatchSize; ++item) values.push_back(value_of_item(item));
  if (bad_value) values[kBad * kBatchSize + 1] = *bad_value;
  std::string data(values.size() * sizeof values[0], '\0');
  std::memcpy(data.data(), values.data(), data.size());
  const std::string shape = "(" + std::to_string(values.size()) + ", 1)";
  folder_.write("input.npy", npy_file(1, npy_header_text("<i8", shape), data));
}

StartedProgram& FaultyBatch::run_producer() {
  auto& producer = start_producer();
  producer.wait();
  return producer;
}

Ring FaultyBatch::left_ring() const {
  AttachAnswer answer = attach_ring(files_, RingAccess::kConsumer);
  if (!answer.ring) throw std::runtime_error("the producer left no ring: " + answer.detail);
  return std::move(*answer.ring);
}

void FaultyBatch::read_published() {
  RingReader(left_ring(), state()).read_published([this](const BatchView& batch) { look(batch); });
}

StartedProgram& FaultyBatch::run_whole_pipeline() {
  auto& producer = start_producer();
  const auto ended = [&] { return !producer.running(); };
  if (auto ring = wait_for_ring(files_, ended)) {
    RingReader reader(std::move(*ring), state());
    EXPECT_TRUE(reader.read_to_end([this](const BatchView& batch) { look(batch); }, ended)) << producer.err();
  }
  producer.wait();
  return producer;
}

void FaultyBatch::look(const BatchView& batch) {
  const std::uint64_t number = value_of(batch.number);
  batches_.push_back(number);
  ASSERT_EQ(batch.rows.size(), kBatchSize);
  ASSERT_EQ(batch.tensors.at(0).bytes.size(), kBatchSize * sizeof(std::int64_t));
  for (std::uint64_t row = 0; row < kBatchSize; ++row) {
    std::int64_t value = 0;
    std::memcpy(&value, batch.tensors[0].bytes.data() + row * sizeof value, sizeof value);
    EXPECT_EQ(value, 3 * value_of_item(number * kBatchSize + row) + 1)
        << "batch " << number << ", row " << row;
  }
}

std::vector<std::uint64_t> FaultyBatch::all_batches(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

std::vector<std::string> FaultyBatch::error_lines(const StartedProgram& program) {
  std::vector<std::string> lines;
  std::istringstream stream(program.err());
  for (std::string line; std::getline(stream, line);)
    if (line.find("Z error producer[") != std::string::npos) lines.push_back(line);
  return lines;
}

}  // namespace tailrace
