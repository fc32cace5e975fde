#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/shm/support.hpp"

namespace tailrace::testing {

/// One run of a producer, publishing so many batches from where the ring says.
struct Producer {
  Producer(const RingFiles& files, const RingSpec& spec)
      : owner(own(files, spec)),
        janitor(owner.ring(), kProducerId, {}),
        queue(owner.ring(), janitor, std::chrono::nanoseconds(0), owner.start().next_seq) {}
  void publish(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_TRUE(publish_batch(queue, value_of(owner.start().next) + published++));
  }
  RingOwner owner;
  Janitor janitor;
  FreeQueue queue;
  std::uint64_t published = 0;
};

struct Consumer {
  Consumer(const Ring& ring, GroupId group)
      : participant(*Participant::join(ring, group)),
        janitor(ring, participant.id(), {}),
        queue(ring, group, participant, janitor, std::chrono::nanoseconds(0)) {}
  std::vector<std::uint64_t> commit_all() {
    std::vector<std::uint64_t> batches;
    for (Lease lease; queue.try_lease(lease) == LeaseOutcome::kLeased;) {
      batches.push_back(checked_batch(lease));
      EXPECT_TRUE(lease.commit());
    }
    return batches;
  }
  Participant participant;
  Janitor janitor;
  ReadyQueue queue;
};

inline void commit_all(const Ring& ring) {
  for (const std::uint32_t g : {0U, 1U}) Consumer(ring, GroupId{g}).commit_all();
}

template <typename Error>
std::string message_of(const RingFiles& files, const RingSpec& spec) {
  try {
    (void)own(files, spec);
  } catch (const Error& error) {
    return error.what();
  }
  return "no exception";
}

class Owning : public ::testing::Test {
 protected:
  TempFolder folder;
  RingFiles files = folder.files();
  RingSpec spec = small_spec();
};

}  // namespace tailrace::testing
