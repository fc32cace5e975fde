#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "systemd/stop_signals.hpp"

namespace tailrace {

/// Tells the service manager how this process is getting on: what it is at (STATUS, about once a second),
/// that it lives (WATCHDOG), that a start or a stop takes longer but advances (EXTEND_TIMEOUT), READY and
/// STOPPING. One object per process, made in main after StopSignals; it has a thread that looks, several
/// times in a watchdog's period, at what the parts of the process have done since it looked last.
///
/// A part gets on when what it counts has changed, when it rests, or while it is within the time that it was
/// allowed. As soon as one part has not got on for half a watchdog's period, there are no pings: whoever
/// needs less than a whole period for a unit of work is never taken for stuck. Waiting for others is
/// getting on: such a loop turns.
class Lifesign {
 public:
  /// For people; asked by the thread of this object.
  using Status = std::function<std::string()>;
  /// Counts up with the work done; asked by the thread of this object.
  using Measure = std::function<std::uint64_t()>;

  /// What a helper thread is doing.
  struct Look {
    bool busy = false;  // it has something to do, so its count has to change
    std::uint64_t count = 0;
  };

  /// `period`: within which the manager wants a ping; 0 = it wants none.
  explicit Lifesign(StopSignals& signals, std::chrono::nanoseconds period);
  Lifesign(const Lifesign&) = delete;
  Lifesign& operator=(const Lifesign&) = delete;
  ~Lifesign();  // says that the process stops

  // Of the main loop.

  /// It gets on: has done some work, or has looked once more for what it rightly waits for. Any thread.
  void turn() noexcept;
  /// What is done during its life may take up to `limit` without a turn. One at a time.
  class Allowance {
   public:
    Allowance(Lifesign& life, std::chrono::nanoseconds limit) noexcept;
    Allowance(const Allowance&) = delete;
    Allowance& operator=(const Allowance&) = delete;
    ~Allowance();

   private:
    Lifesign* life_;
  };

  /// The process does what it is there for. Only the first call counts.
  void ready();

  /// What the main loop is at, for as long as the object lives; the innermost one counts. What status and
  /// measure use has to outlive it.
  class Stage {
   public:
    Stage(Lifesign& life, Status status, Measure measure = {});
    Stage(Lifesign& life, const std::string& status, Measure measure = {})
        : Stage(
              life, [status] { return status; }, std::move(measure)) {}
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage();

    /// Another text from now on.
    void say(const std::string& status);

   private:
    friend class Lifesign;
    Lifesign* life_;
    Status status_;
    Measure measure_;
  };

  /// A helper thread that has to get on, too, for as long as the object lives.
  class Helper {
   public:
    Helper(Lifesign& life, std::string name, std::function<Look()> look);
    Helper(const Helper&) = delete;
    Helper& operator=(const Helper&) = delete;
    ~Helper();

   private:
    friend class Lifesign;
    Lifesign* life_;
    std::string name_;
    std::function<Look()> look_;
    std::uint64_t count_ = 0;
    std::uint64_t since_ns_ = 0;
  };

 private:
  /// What a look has found worth telling.
  struct Signs {
    bool ping = false;
    bool extend = false;
    bool stopping = false;
    std::optional<std::string> status;
    std::optional<std::string> error;  // for the log
    std::optional<std::string> relief;
  };
  /// The part that has not got on for the longest time.
  struct Silence {
    std::string part;
    std::uint64_t ns = 0;
  };

  void run();
  Signs look();
  static void send(const Signs& signs);
  Silence find_silence(std::uint64_t now);
  void judge(const Silence& silence, Signs& signs);
  /// What to tell at present; remembers that it was told.
  std::optional<std::string> next_status(std::uint64_t now, bool at_once);
  /// For how long the main loop has not got on.
  std::uint64_t main_silent_ns(std::uint64_t now);
  [[nodiscard]] std::string status_text() const;

  StopSignals* signals_;
  std::chrono::nanoseconds period_;
  std::chrono::nanoseconds round_;
  std::atomic<std::uint64_t> turns_{0};
  std::atomic<std::uint64_t> allowed_until_ns_{0};

  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  bool quit_ = false;
  bool stage_changed_ = false;
  bool ready_ = false;
  bool told_stopping_ = false;
  std::list<Stage*> stages_;  // the innermost one at the end
  std::list<Helper*> helpers_;
  std::uint64_t main_count_ = 0;
  std::uint64_t main_since_ns_ = 0;  // when the main loop was last seen to get on
  std::string said_;
  std::uint64_t next_status_ns_ = 0;
  std::string stuck_;  // the part that does not get on; empty: all do

  std::thread thread_;
};

}  // namespace tailrace
