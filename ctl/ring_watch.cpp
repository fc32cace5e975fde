#include "ctl/ring_watch.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "shm/descriptor.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

UniqueFd watch_names(const std::filesystem::path& directory) {
  UniqueFd fd(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!fd || inotify_add_watch(fd.get(), directory.c_str(), IN_MOVED_TO | IN_DELETE) < 0)
    throw std::system_error(errno, std::generic_category(), "cannot watch " + directory.string());
  return fd;
}

}  // namespace

RingWatch::RingWatch(RingFiles files)
    : files_(std::move(files)), changes_(watch_names(files_.control.parent_path())) {}

bool RingWatch::refresh() {
  std::array<char, 4096> events{};
  while (read(changes_.get(), events.data(), events.size()) > 0) {
  }
  if (ring_ && ring_->names_intact()) return false;
  AttachAnswer answer = look_at_ring(files_, RingAccess::kObserver);
  if (!answer.ring || answer.state != AttachState::kReady) return false;
  // The same once more: its names are being removed this moment, the data's first.
  if (ring_ && ring_->geometry().epoch == answer.ring->geometry().epoch) return false;
  ring_ = std::move(answer.ring);
  return true;
}

bool RingWatch::request_drain() const {
  const AttachAnswer answer = look_at_ring(files_, RingAccess::kOperator);
  if (answer.state != AttachState::kReady) return false;
  tailrace::request_drain(*answer.ring);
  return true;
}

AttachAnswer look_at_ring(const RingFiles& files, RingAccess access) {
  try {
    return attach_ring(files, access);
  } catch (const std::system_error& error) {
    return {AttachState::kIncompatible, error.what(), std::nullopt};
  }
}

void request_drain(const Ring& ring) noexcept {
  ring.header().drain_requested.store(1, std::memory_order_release);
  ring.notify_all();
}

void forget_drain(const RingFiles& files) {
  const AttachAnswer found = look_at_ring(files, RingAccess::kOperator);
  if (found.ring) found.ring->header().drain_requested.store(0, std::memory_order_release);
}

std::optional<std::uint64_t> published_batches(const Ring& ring) {
  if (!ring.has_data()) return std::nullopt;
  std::uint64_t published = ring.header().cursor.load(std::memory_order_acquire);
  const SlotProtocol protocol = ring.protocol();
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s)
    if (protocol.producer_word(SlotId{s}).state == ProducerState::kReady)
      published = std::max(published, value_of(read_batch_number(ring.slot(SlotId{s}))) + 1);
  return published;
}

bool nothing_done(const Ring& ring) {
  // The cursor moves when a slot is used again, which all groups are done with.
  if (ring.header().cursor.load(std::memory_order_acquire) != 0) return false;
  const SlotProtocol protocol = ring.protocol();
  for (std::uint32_t s = 0; s < ring.geometry().slot_count; ++s) {
    const ProducerWord word = protocol.producer_word(SlotId{s});
    if (word.state != ProducerState::kReady) continue;
    for (std::uint32_t g = 0; g < ring.geometry().groups.size(); ++g)
      if (protocol.group_word(SlotId{s}, GroupId{g}) == done_word(word.seq)) return false;
  }
  return true;
}

}  // namespace tailrace
