#pragma once

#include "ctl/ring_report.hpp"

namespace tailrace {

inline ParticipantReport example_process(std::uint32_t id, const std::string& group, Activity activity) {
  ParticipantReport process;
  process.id = id;
  process.group = group;
  process.pid = 10 + id;
  process.alive = true;
  process.batches = 4;
  process.activity = name_of(activity);
  return process;
}

/// A ring in which all is well: a producer that has published, a group "masks" with one consumer.
inline RingReport example_ring() {
  RingReport ring;
  ring.name = "seg";
  ring.attach = AttachState::kReady;
  ring.epoch = 7;
  ring.slots = 8;
  ring.slot_bytes = 4096;
  ring.items = 100;
  ring.batches = 10;
  ring.published = 6;
  ring.role_held = true;
  ring.producer = example_process(0, "", Activity::kCompute);
  ring.consumers.push_back(example_process(1, "masks", Activity::kSink));
  ring.consumers[0].progress_limit_s = 60;
  GroupReport group;
  group.name = "masks";
  group.slots.free = 6;
  group.slots.ready = 1;
  group.slots.leased = 1;
  ring.groups.push_back(group);
  return ring;
}

}  // namespace tailrace
