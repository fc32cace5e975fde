#include "ctl/bench/handoff.hpp"

#include <chrono>
#include <iostream>
#include <memory>
#include <string>

#include "ctl/bench/bench_action.hpp"
#include "ctl/bench/handoff_result.hpp"
#include "ctl/bench/path_handoff.hpp"
#include "ctl/bench/python_queue.hpp"
#include "ctl/bench/ring_handoff.hpp"
#include "ctl/json_text.hpp"

namespace tailrace {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds kPause{20};  // a consumer waits again by then
constexpr microseconds kRingSpin{200};
constexpr milliseconds kPathSpin{1};

struct Options {
  std::uint32_t slots = 64;
  std::uint32_t consumers_max = 8;
  std::uint64_t latency_batches = 20'000;
  std::uint64_t rate_batches = 500'000;
  std::uint64_t path_batches = 10'000;
  std::string device = "auto";
  bool json = false;
};

double measure_rate(const Options& options, std::uint32_t consumers, microseconds spin,
                    const ChildSignals& signals) {
  say("measuring the rate with " + std::to_string(consumers) + (consumers == 1 ? " consumer" : " consumers"));
  return measure_ring_handoff({options.slots, consumers, options.rate_batches, {}, spin}, signals)
      .handovers_per_s;
}

LatencyFigures measure_latency(const Options& options, microseconds spin, const ChildSignals& signals) {
  say(std::string("measuring the latency between processes that ") + (spin.count() == 0 ? "sleep" : "spin"));
  auto figures = measure_ring_handoff({options.slots, 1, options.latency_batches, kPause, spin}, signals);
  return latency_figures(figures.latencies_ns);
}

void measure_path(const Options& options, HandoffResult& result, const ChildSignals& signals) {
  if (!has_producer_program()) {
    say("there is no tailrace-producer here: the way from the device is left out");
    return;
  }
  say("measuring the way from the device");
  result.path_blocking = measure_path_handoff({options.device, options.path_batches, {}}, signals);
  result.path_spinning = measure_path_handoff({options.device, options.path_batches, kPathSpin}, signals);
}

HandoffResult measure_handoff(const Options& options, const ChildSignals& signals) {
  HandoffResult result;
  for (std::uint32_t consumers = 1; consumers <= options.consumers_max; consumers *= 2)
    result.handovers_per_s[consumers] = measure_rate(options, consumers, {}, signals);
  result.futex = {measure_latency(options, {}, signals), result.handovers_per_s.at(1)};
  result.spin = {measure_latency(options, kRingSpin, signals), measure_rate(options, 1, kRingSpin, signals)};
  for (const std::uint32_t slots : {64U, 256U}) result.lease_scan_ns[slots] = measure_lease_scan_ns(slots);
  measure_path(options, result, signals);
  say("measuring Python's multiprocessing.Queue");
  std::string why_not;
  result.python_queue = measure_python_queue(signals, why_not);
  if (!result.python_queue) say("Python's multiprocessing.Queue is left out: " + why_not);
  return result;
}

void add_counts(CLI::App& command, Options& options) {
  const auto add = [&](const char* name, auto& count, std::uint64_t most, const char* help) {
    command.add_option(name, count, help)->check(CLI::Range(std::uint64_t{1}, most))->capture_default_str();
  };
  add("--slots", options.slots, 1024, "Slots of the ring without a device");
  add("--consumers-max", options.consumers_max, 255,
      "The rate is measured with 1, 2, 4 … consumers up to this");
  add("--latency-batches", options.latency_batches, 100'000'000, "Batches whose latency is measured");
  add("--rate-batches", options.rate_batches, 100'000'000, "Batches whose rate is measured");
  add("--path-batches", options.path_batches, 100'000'000, "Batches from the device");
}

}  // namespace

void add_handoff(CLI::App& bench, Action& action) {
  CLI::App& command =
      add_command(bench, "handoff",
                  "From one process to another: latency and rate of the ring by itself, then of the whole "
                  "way from the device, "
                  "with batches of 4 KiB; beside it Python's multiprocessing.Queue where there is a python3");
  const auto options = std::make_shared<Options>();
  add_counts(command, *options);
  command.add_option("--device", options->device, "Of the whole way: auto, cpu, cuda, cuda:N")
      ->capture_default_str();
  command.add_flag("--json", options->json, "Print JSON: latency_ns, handovers_per_s, and more");
  command.callback([options, &action] {
    action = bench_action([options](const ChildSignals& signals) {
      const HandoffResult result = measure_handoff(*options, signals);
      if (options->json)
        std::cout << json_text(handoff_json(result));
      else
        std::cout << handoff_text(result);
    });
  });
}

}  // namespace tailrace
