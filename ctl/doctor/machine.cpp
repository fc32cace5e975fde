#include "ctl/doctor/machine.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "shm/ring_making.hpp"

namespace tailrace {
namespace {

std::optional<std::uint32_t> owner_of(const std::filesystem::path& file) {
  struct stat status {};
  return lstat(file.c_str(), &status) == 0 ? std::optional(status.st_uid) : std::nullopt;
}

}  // namespace

RingFacts facts_of(const RingReport& ring, const std::filesystem::path& data) {
  RingFacts facts;
  facts.name = ring.name;
  facts.data = data;
  facts.bytes = ring.slots * slot_stride_for(ring.slot_bytes);
  facts.on_gpu = ring.gauges.link_bytes_per_s != 0;
  facts.pinned = ring.gauges.slots_pinned != 0;
  facts.page_bytes = ring.gauges.page_bytes;
  facts.numa_node = ring.gauges.numa_node;
  facts.uid = owner_of(RingFiles(ring.name, RingFiles::kControlDirectory).control);
  if (ring.has_living_producer()) {
    facts.producer = ring.producer->pid;
    facts.processes.push_back(ring.producer->pid);
  }
  for (const ParticipantReport& consumer : ring.consumers)
    if (consumer.alive) facts.processes.push_back(consumer.pid);
  return facts;
}

std::vector<MachineCheck> check_machine(const Machine& machine, const std::vector<RingFacts>& rings,
                                        const Config* config) {
  std::vector<MachineCheck> checks;
  const auto add = [&](std::vector<MachineCheck> more) {
    std::move(more.begin(), more.end(), std::back_inserter(checks));
  };
  add(check_device(machine, rings));
  add(check_ring_memory(machine, rings));
  add(check_limits(machine, rings));
  add(check_services(machine, rings));
  if (config != nullptr) add(check_storage(*config));
  return checks;
}

}  // namespace tailrace
