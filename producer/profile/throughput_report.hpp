#pragma once

#include <string>

#include "config/config.hpp"
#include "producer/device.hpp"
#include "producer/profile/throughput.hpp"
#include "shm/control_layout.hpp"

namespace tailrace {

/// The throughput with what it was reached with, as one JSON object (docs/profiling.md lists its keys).
std::string throughput_json(const Throughput& throughput, const Config& config, const Device& device,
                            const ProducerGauges& gauges);

}  // namespace tailrace
