#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctl/ring_report.hpp"

namespace tailrace {

/// What the producer did between two looks. Shares are of the time between them, 0…1.
struct ProducerRates {
  double batches_per_s = 0;
  double items_per_s = 0;
  double bytes_per_s = 0;    // into slots
  double device_busy = 0;    // the device was in the model
  double h2d_busy = 0;       // input was on its way to the device
  double copy_busy = 0;      // output was on its way into slots
  double input_share = 0;    // the main loop waited for decoded input
  double slot_share = 0;     // … for a free slot, or for the consumers to be through
  double compute_share = 0;  // … for the device
  double h2d_s = 0;          // of one batch, as the following
  double compute_s = 0;
  double copy_s = 0;
};

/// What one consumer did.
struct ConsumerRates {
  std::uint32_t id = 0;
  double batches_per_s = 0;
  double items_per_s = 0;
};

/// What the consumers of a group did. Shares are of the time of all its living consumers together.
struct GroupRates {
  std::string name;
  std::uint32_t consumers = 0;  // that live
  double batches_per_s = 0;
  double items_per_s = 0;
  double bytes_per_s = 0;     // read by the sink
  double busy = 0;            // at a batch
  double consumer_share = 0;  // waiting for a batch
  double disk_share = 0;      // of it: waiting for storage
  double sink_s = 0;          // of one batch
};

struct RingRates {
  double interval_s = 0;
  ProducerRates producer;
  std::vector<GroupRates> groups;        // as in the report
  std::vector<ConsumerRates> consumers;  // that were there at both looks
};

/// Empty: not the same ring, not readable, or no time between the two. What lasts at a look counts up to it:
/// a wait of ten seconds shows also between two looks in the midst of it. Times of one batch are from the
/// interval, or where nothing ended in it from the whole life of the ring.
std::optional<RingRates> rates_between(const RingReport& earlier, const RingReport& later);

/// Until every group is through with every item, at this speed; empty: unknown, or nothing moves.
std::optional<double> remaining_s(const RingReport& ring, const RingRates& rates);

}  // namespace tailrace
