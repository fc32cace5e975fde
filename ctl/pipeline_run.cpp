#include "ctl/pipeline_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <iostream>
#include <system_error>

#include "config/exit_codes.hpp"
#include "config/load.hpp"
#include "ctl/ring_list.hpp"
#include "ctl/ring_report.hpp"
#include "ledger/incidents.hpp"
#include "ledger/job_ledger.hpp"
#include "os/clock.hpp"
#include "shm/ring_owner.hpp"

namespace tailrace {
namespace {

constexpr int kRoundMs = 200;  // how often the status is redrawn, and children's lines are relayed
constexpr std::uint64_t kRateWindowNs = 5'000'000'000;
constexpr std::uint64_t kPatienceNs = 10'000'000'000;  // with processes that were asked to stop

UniqueFd take_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd) throw std::system_error(errno, std::generic_category(), "signalfd");
  return fd;
}

/// Whether somebody sits at a terminal that this process belongs to.
bool has_terminal() { return static_cast<bool>(UniqueFd(open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC))); }

std::string output_of(const GroupConfig& group, const std::string& state) {
  if (group.processes == 0) return "given to programs of your own";
  const SinkConfig& sink = group.sink;
  switch (sink.kind) {
    case SinkKind::kPngMask:
    case SinkKind::kNpy:
      return sink.path;
    case SinkKind::kExec:
      return "given to " + (sink.command.empty() ? "a program" : sink.command.front());
    case SinkKind::kChecksum:
      return state + "/manifest.jsonl";
    case SinkKind::kNull:
      return "none kept";
  }
  return {};
}

bool is_done(int code) { return code == kExitDone || code == kExitSkippedItems; }

}  // namespace

PipelineRun::PipelineRun(const Config& config, const Options& options)
    : config_(config),
      options_(options),
      files_(config.pipeline.name, config.ring.directory),
      signals_(take_signals()),
      had_terminal_(has_terminal()),
      ring_(files_),
      supervisor_(
          processes_of(config, options, console_.child_stderr()),
          [this](const std::string& line) { console_.say(line); },
          [this](const Supervisor::Process& process, const std::string& how) { note_death(process, how); },
          [this](const Supervisor::Process& process, int code) {
            return process.group.empty() && code == kExitTryAgain && find_producer(files_);
          }),
      start_ns_(monotonic_ns()),
      meter_(kRateWindowNs) {}

int PipelineRun::run() {
  if (const auto holder = find_producer(files_)) {
    console_.say("pipeline '" + config_.pipeline.name + "' has a producer already: " + *holder);
    return kExitTryAgain;
  }
  forget_drain(files_);
  supervisor_.start();
  for (const GroupTotals& group : totals())
    before_ = std::min(before_, group.done + group.skipped + group.set_aside);
  if (before_ == UINT64_MAX) before_ = 0;
  while (!supervisor_.ended()) {
    show();
    wait();
    handle_signals();
    watch_ring();
    watch_ledger();
    supervisor_.do_work(ring_.ring());
    end_stragglers();
    end_stuck_consumers();
  }
  console_.finish();
  const int code = exit_code();
  look_after_ring();
  print_summary();
  return code;
}

void PipelineRun::wait() const {
  std::array<pollfd, 2> fds{{{signals_.get(), POLLIN, 0}, {ring_.fd(), POLLIN, 0}}};
  const int restart_ms = supervisor_.next_restart_ms();
  poll(fds.data(), fds.size(), restart_ms < 0 ? kRoundMs : std::min(restart_ms, kRoundMs));
}

void PipelineRun::handle_signals() {
  signalfd_siginfo info{};
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGHUP && (!had_terminal_ || has_terminal()))
      reload();
    else if (info.ssi_signo != SIGCHLD)
      on_stop_signal(static_cast<int>(info.ssi_signo));
  }
}

void PipelineRun::reload() {
  try {
    const Config now = load_config(options_.file, options_.overrides, process_environment()).config;
    for (GroupConfig& group : config_.groups)
      for (const GroupConfig& changed : now.groups)
        if (changed.name == group.name) group.progress_limit = changed.progress_limit;
  } catch (const std::exception& error) {
    console_.say(std::string(error.what()) + "\nthe configuration was not read again");
    return;
  }
  supervisor_.reload();
}

void PipelineRun::on_stop_signal(int signal) {
  const bool first = stop_signal_ == 0;
  stop_signal_ = signal;
  if (first) {
    drain();
    return;
  }
  console_.say("killing every process of the pipeline");
  supervisor_.kill();
}

void PipelineRun::drain() {
  if (supervisor_.stopping()) return;
  if (config_.egress.strategy != EgressStrategyKind::kInline && ring_.request_drain()) {
    console_.say("finishing what is in flight; once more stops at once");
    return;
  }
  console_.say("stopping; once more stops at once");
  supervisor_.stop();
}

void PipelineRun::watch_ring() {
  if (ring_.refresh()) {
    first_ = read_progress(*ring_.ring());
    meter_ = RateMeter(kRateWindowNs);
  }
  // A ring that replaces the one that was asked to drain does not know of it.
  const Ring* ring = ring_.ring();
  if (stop_signal_ != 0 && ring != nullptr &&
      ring->header().drain_requested.load(std::memory_order_acquire) == 0)
    static_cast<void>(ring_.request_drain());
}

// Whoever would be started again would wait for this ledger, or make another one.
void PipelineRun::watch_ledger() {
  if (supervisor_.stopping()) return;
  if (!ledger_ && ring_.ring() != nullptr) ledger_ = LedgerFile::find(config_.pipeline.state);
  if (!ledger_ || ledger_->is_there()) return;
  console_.say(std::string(LedgerLost(ledger_->path()).what()) + "; stopping every process");
  supervisor_.end(kExitIo);
}

void PipelineRun::end_stragglers() {
  // Who asked the processes to stop by a signal of the terminal has another one for the impatient.
  if (!supervisor_.end_code()) return;
  const std::uint64_t now = monotonic_ns();
  if (kill_ns_ == 0) kill_ns_ = now + kPatienceNs;
  if (now < kill_ns_) return;
  console_.say("some processes do not stop: killing them");
  kill_ns_ = UINT64_MAX;
  supervisor_.kill();
}

// Its batch goes to another consumer, its attempt counted. A batch is never taken from a living process.
void PipelineRun::end_stuck_consumers() {
  const Ring* ring = ring_.ring();
  if (ring == nullptr) return;
  for (const GroupConfig& group : config_.groups) {
    const auto id = ring->find_group(group.name);
    const auto lease = id ? find_oldest_lease(*ring, *id) : std::nullopt;
    const double limit_s = std::chrono::duration<double>(group.progress_limit).count();
    if (!lease || lease->age_s <= limit_s) continue;
    const std::string title = supervisor_.kill_stuck(static_cast<pid_t>(lease->pid));
    if (title.empty()) continue;
    console_.say(title + " (pid " + std::to_string(lease->pid) + ") has been at the batch in slot " +
                 std::to_string(lease->slot) + " for " + clock_text(lease->age_s) +
                 ", longer than its group's " + "progress_limit: killing it");
  }
}

void PipelineRun::show() {
  console_.relay();
  const std::string& name = config_.pipeline.name;
  if (const Ring* ring = ring_.ring()) {
    const Progress progress = read_progress(*ring);
    console_.show(progress_line(name, progress, meter_.add(progress)));
  } else {
    console_.show(name + (config_.egress.strategy == EgressStrategyKind::kInline ? " working" : " loading") +
                  "  " + clock_text(static_cast<double>(monotonic_ns() - start_ns_) / 1e9));
  }
}

// For people; a run does not fail for it.
void PipelineRun::note_death(const Supervisor::Process& process, const std::string& how) const {
  try {
    tailrace::note_death(config_.pipeline.state, {process.child.pid(), process.child.title(), how});
  } catch (const LedgerError&) {
    // There is no ledger yet, or it cannot be written: who writes to it for the work's sake says so.
  }
}

bool PipelineRun::complete() {
  const auto producer = supervisor_.producer_code();
  if (!producer || !is_done(*producer)) return false;
  try {
    return is_complete(config_.pipeline.state);
  } catch (const LedgerError& error) {
    console_.say(error.what());
    return false;
  }
}

int PipelineRun::exit_code() {
  const auto end = supervisor_.end_code();
  if (end && !is_done(*end)) return *end;
  if (complete()) return *supervisor_.producer_code();
  if (stop_signal_ != 0) return 128 + stop_signal_;
  console_.say("the producer was asked to stop (by `tailrace drain`, or a signal) with items left");
  return kExitTerminated;
}

// A ring with finished batches is the next run's to go on with; another one, and what else is left, is of no
// use.
void PipelineRun::look_after_ring() {
  if (find_producer(files_)) return;
  const AttachAnswer found = look_at_ring(files_, RingAccess::kObserver);
  if (found.state != AttachState::kAbsent && !found.ring) return;
  if (!found.ring || nothing_done(*found.ring)) {
    if (!existing_files(files_).empty()) static_cast<void>(clean_ring(files_));
    return;
  }
  console_.say("the ring stays, with " + std::to_string(found.ring->protocol().count_unfinished()) +
               " unfinished batches: run again to go on with it, or discard it with `tailrace clean " +
               config_.pipeline.name + "`");
}

std::vector<GroupTotals> PipelineRun::totals() const {
  try {
    return JobLedger(Ledger::open_to_read(config_.pipeline.state)).totals(group_names(config_));
  } catch (const LedgerError&) {
    return {};  // there is none yet, or who needs it for the work says what is wrong with it
  }
}

void PipelineRun::print_summary() const {
  const auto groups = totals();
  if (groups.empty() || (supervisor_.end_code() && !is_done(*supervisor_.end_code()))) return;
  RunSummary summary{config_.pipeline.name,
                     static_cast<double>(monotonic_ns() - start_ns_) / 1e9,
                     before_,
                     {},
                     supervisor_.producer_deaths(),
                     supervisor_.producer_restarts(),
                     {}};
  const Ring* ring = ring_.ring();
  std::vector<GroupProgress> seen;
  if (ring != nullptr && first_) {
    const Progress last = read_progress(*ring);
    summary.rates = rates_between(*first_, last);
    seen = last.groups;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const GroupConfig& group = config_.groups[g];
    summary.groups.push_back({group.name, groups[g].done, groups[g].skipped, groups[g].set_aside,
                              groups[g].missing, g < seen.size() ? seen[g].redeliveries : 0,
                              supervisor_.deaths_in(group.name), output_of(group, config_.pipeline.state)});
  }
  std::cout << summary_text(summary);
}

}  // namespace tailrace
