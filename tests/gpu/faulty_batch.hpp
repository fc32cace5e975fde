#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu/device_pipeline.hpp"
#include "tests/gpu/ring_reader.hpp"

namespace tailrace {

/// An `arrays` source of one int64 per item and a TorchScript model that makes 3 x + 1 of it, but fails where
/// one item has a bad value.
class FaultyBatch : public DevicePipeline {
 protected:
  static constexpr std::uint64_t kBatchSize = 4;
  static constexpr std::uint64_t kBatches = 8;
  static constexpr std::uint64_t kBad = 2;                 // the batch that fails
  static constexpr std::int64_t kValues = 1000;            // good values are below
  static constexpr std::uint64_t kEnoughSlots = kBatches;  // for the producer to wait for nobody

  /// `body` is the model's forward (see write_script); `bad_value` is what one item of batch kBad has.
  void write_pipeline(const std::string& body, std::optional<std::int64_t> bad_value);
  /// From now on every item is good.
  void mend() const { write_input({}); }

  StartedProgram& start_producer() { return DevicePipeline::start_producer(config_); }
  /// Runs a producer to its end, without a consumer.
  StartedProgram& run_producer();
  /// The ring that a producer left.
  [[nodiscard]] Ring left_ring() const;
  /// Reads what is published into batches(). Each value is checked.
  void read_published();
  /// Runs a producer to its end and reads all that is published.
  StartedProgram& run_whole_pipeline();

  /// Numbers of the batches that were read, in order.
  [[nodiscard]] const std::vector<std::uint64_t>& batches() const { return batches_; }
  static std::int64_t value_of_item(std::uint64_t item);
  static std::vector<std::uint64_t> all_batches(std::uint64_t count = kBatches);
  /// Lines of the log of level error.
  static std::vector<std::string> error_lines(const StartedProgram& program);

 private:
  void write_input(std::optional<std::int64_t> bad_value) const;
  void look(const BatchView& batch);

  std::string config_;
  std::vector<std::uint64_t> batches_;
};

}  // namespace tailrace
