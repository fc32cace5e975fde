#include "ctl/supervisor.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "config/exit_codes.hpp"
#include "os/clock.hpp"
#include "shm/participant.hpp"

namespace tailrace {
namespace {

std::string describe_end(int code) {
  return code > 128 ? "was ended by signal " + std::to_string(code - 128)
                    : "ended with exit code " + std::to_string(code);
}

bool is_producer(const Supervisor::Process& process) { return process.group.empty(); }

bool has_served(const ParticipantRecord& record) {
  const auto& count =
      record.role.load(std::memory_order_relaxed) == Role::kProducer ? record.progress : record.batches;
  return count.load(std::memory_order_relaxed) != 0;
}

/// A consumer counts what it begins: whole batches, and each item of one that is done item by item. So it has
/// come to the second only after the first, or its batch is one that the ledger bounds the deaths of.
bool has_advanced(const ParticipantRecord& record) {
  return has_served(record) || record.progress.load(std::memory_order_relaxed) > 1;
}

/// Consumers of this group leave by themselves.
bool has_everything(const Ring* ring, const std::string& group) {
  if (ring == nullptr || ring->state() != RingState::kFinished) return false;
  const auto id = ring->find_group(group);
  return id && ring->protocol().group_is_done(*id);
}

}  // namespace

Supervisor::Supervisor(std::vector<Process> processes, Say say, OnDeath on_death, IsHopeless is_hopeless)
    : processes_(std::move(processes)),
      say_(std::move(say)),
      on_death_(std::move(on_death)),
      is_hopeless_(std::move(is_hopeless)) {}

void Supervisor::start() {
  try {
    for (Process& process : processes_) process.child.start();
  } catch (...) {
    kill();
    throw;
  }
}

void Supervisor::do_work(const Ring* ring) {
  if (ring != nullptr) note_served(*ring);
  for (Process& process : processes_) {
    if (const auto code = process.child.try_reap()) on_exit(process, *code, ring);
    // It may have left the ring of another producer, which was on its way out.
    const bool has_left = !is_producer(process) && !process.child.running() && process.start_ns == 0;
    if (has_left && !stopping_ && !has_everything(ring, process.group)) process.start_ns = monotonic_ns();
    if (process.start_ns == 0 || stopping_ || monotonic_ns() < process.start_ns) continue;
    process.start_ns = 0;
    process.served = false;
    process.advanced = false;
    process.stuck = false;
    ++process.restarts;
    process.child.start();
  }
}

void Supervisor::note_served(const Ring& ring) {
  for (const ParticipantRecord& record : ring.participants()) {
    const pid_t pid = identity_of(record).pid;
    if (pid == 0 || !has_advanced(record)) continue;
    for (Process& process : processes_) {
      if (!process.child.running() || process.child.pid() != pid) continue;
      process.served = has_served(record);
      process.advanced = true;
      note_success_in(process.group);
    }
  }
}

void Supervisor::note_success_in(const std::string& group) {
  for (Process& process : processes_)
    if (process.group == group) process.policy.note_success_of_another();
}

void Supervisor::on_exit(Process& process, int code, const Ring* ring) {
  const bool job_over = is_producer(process) && (code == kExitDone || code == kExitSkippedItems);
  if (is_producer(process)) producer_code_ = code;
  if (stopping_) return;
  if (job_over) {
    end_code_ = code;
    stop();  // whoever looks for the ring only now would wait for ever
    return;
  }
  if (!is_producer(process) && code == kExitDone && has_everything(ring, process.group)) return;
  restart_or_end(process, code);
}

void Supervisor::restart_or_end(Process& process, int code) {
  const std::string what =
      process.child.title() + " (pid " + std::to_string(process.child.pid()) + ") " + describe_end(code);
  if (code != kExitDone) {  // it left in order, though too early
    ++process.deaths;
    on_death_(process, describe_end(code));
  }
  // Against a full disk only a batch counts: an item is begun there, too.
  const bool got_on = code == kExitIo ? process.served : process.advanced;
  const auto pause = process.policy.pause_before_restart(code, got_on);
  if (pause && !is_hopeless_(process, code)) {
    say_(what + "; starting it again");
    process.start_ns = monotonic_ns() + static_cast<std::uint64_t>(pause->count()) * 1'000'000;
    return;
  }
  say_(what + "; starting it again would not help, stopping the others" +
       (code == kExitIo ? ": mend what it says (make room), and run again" : ""));
  end(code);
}

void Supervisor::end(int code) {
  end_code_ = code;
  stop();
}

void Supervisor::reload() const {
  for (const Process& process : processes_) process.child.send(SIGHUP);
}

void Supervisor::stop() {
  stopping_ = true;
  for (const Process& process : processes_) process.child.send(SIGTERM);
}

void Supervisor::kill() {
  stopping_ = true;
  for (const Process& process : processes_) process.child.kill_group();
}

std::string Supervisor::kill_stuck(pid_t pid) {
  for (Process& process : processes_) {
    if (!process.child.running() || process.child.pid() != pid || process.stuck) continue;
    process.stuck = true;
    process.child.kill_group();
    return process.child.title();
  }
  return {};
}

bool Supervisor::ended() const {
  return std::none_of(processes_.begin(), processes_.end(), [this](const Process& process) {
    return process.child.running() || (process.start_ns != 0 && !stopping_);
  });
}

std::uint32_t Supervisor::deaths_in(const std::string& group) const {
  std::uint32_t deaths = 0;
  for (const Process& process : processes_)
    if (process.group == group) deaths += process.deaths;
  return deaths;
}

int Supervisor::next_restart_ms() const {
  std::uint64_t next_ns = UINT64_MAX;
  for (const Process& process : processes_)
    if (process.start_ns != 0 && !stopping_) next_ns = std::min(next_ns, process.start_ns);
  if (next_ns == UINT64_MAX) return -1;
  const std::uint64_t now = monotonic_ns();
  return next_ns <= now ? 0 : static_cast<int>((next_ns - now) / 1'000'000 + 1);
}

}  // namespace tailrace
