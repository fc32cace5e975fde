#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "os/unique_fd.hpp"
#include "shm/free_queue.hpp"
#include "shm/ready_queue.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// An empty folder in /dev/shm that goes away with everything in it.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] RingFiles files() const { return {"test", path_, path_}; }
  /// Names of what is in it, sorted.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
  UniqueFd lock_;  // says that somebody uses it
};

/// Two groups, small slots, a job of a million batches.
RingSpec small_spec(std::uint32_t slot_count = 4);

/// A producer that waits for nobody and says nothing.
RingOwner own(const RingFiles& files, const RingSpec& spec);
/// Attaches; fails the test's process by exception if that gives no ring.
Ring attach(const RingFiles& files, RingAccess access);

/// Claims a slot, writes a batch of one row and one tensor whose values are f(number), publishes. False: no
/// slot.
bool publish_batch(FreeQueue& queue, std::uint64_t number);
/// The number of the leased batch, after a check that descriptor and every tensor value are those of
/// publish_batch; throws otherwise.
std::uint64_t checked_batch(const Lease& lease);

/// A forked process and a pipe each way. The body starts as soon as it is made; parent and child take turns
/// by bytes, so that nothing depends on time.
class Child {
 public:
  class Line {
   public:
    Line(int in, int out) : in_(in), out_(out) {}
    /// The other side's next byte; 0 = it has ended.
    [[nodiscard]] char hear() const;
    void say(char byte) const;

   private:
    int in_;
    int out_;
  };

  explicit Child(const std::function<void(const Line&)>& body);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] char hear() const { return line_.hear(); }
  void say(char byte) const { line_.say(byte); }
  void send(int signal) const;
  /// SIGKILL, and gone when this returns. As join().
  int kill_now();
  /// Waits for its end; the exit code, or minus the signal. 99: the body threw.
  int join();

 private:
  static Line fork_into(pid_t& pid, int (&fds)[2], const std::function<void(const Line&)>& body);

  pid_t pid_ = -1;
  int fds_[2] = {-1, -1};
  Line line_;
};

/// Runs `body` in a child and calls `go_on` wherever one of its system calls begins or ends; false: the child
/// is killed there. Returns whether it was.
bool stopping_at_system_calls(const std::function<void()>& body, const std::function<bool()>& go_on);

}  // namespace tailrace::testing
