#include "ctl/bench/link.hpp"

#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "config/load.hpp"
#include "config/quantities.hpp"
#include "ctl/bench/bench_action.hpp"
#include "ctl/bench/default_pipelines.hpp"
#include "ctl/bench/measured_run.hpp"
#include "ctl/bench/memcpy_rate.hpp"
#include "ctl/bench/temporary_folder.hpp"
#include "ctl/bench/text_table.hpp"
#include "ctl/json_text.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kLeastBatchBytes = 1024;
constexpr std::uint64_t kMostBatchBytes = 1ull << 38;

struct Options {
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> batch_bytes;
  std::optional<std::uint32_t> slots;
  std::optional<std::uint32_t> consumers;
  std::uint32_t steps = 40;
  std::uint32_t warmup = 10;
  bool json = false;
};

/// What came out, and what could have.
struct LinkFigures {
  RunReport report;
  std::uint32_t slots = 0;
  std::uint32_t consumers = 0;
  double limit_bytes_per_s = 0;

  [[nodiscard]] double share() const {
    return limit_bytes_per_s > 0 ? report.bytes_per_s / limit_bytes_per_s : 0;
  }
  [[nodiscard]] std::string limit_text() const {
    return report.on_gpu() ? "the link into pinned memory" : "memcpy by one thread (no GPU, no link)";
  }
};

LinkLoad load_of(const Options& options, bool on_gpu) {
  LinkLoad load = default_link_load(on_gpu);
  load.batch_bytes = options.batch_bytes.value_or(load.batch_bytes);
  load.slots = options.slots.value_or(load.slots);
  load.consumers = options.consumers.value_or(load.consumers);
  return load;
}

MeasuredRun run_of(const Options& options, const Config& config, const std::string& file) {
  MeasuredRun run{"link", file, options.overrides, config.ring.directory, {options.warmup, options.steps},
                  false};
  run.overrides.push_back("source.items=" + std::to_string(std::uint64_t{options.warmup + options.steps} *
                                                           config.source.batch_size));
  run.overrides.emplace_back("egress.strategy=streams");
  return run;
}

LinkFigures measure_link(const Options& options, const ChildSignals& signals) {
  const TemporaryFolder folder;
  const std::string file = folder.file("link.toml").string();
  std::ofstream(file) << link_pipeline(load_of(options, runs_on_gpu(options.overrides, signals)));
  const Config config = load_config(file, options.overrides, process_environment()).config;
  const std::uint32_t consumers = config.groups.front().processes;
  say("measuring with " + std::to_string(config.ring.slots) + " slots, every byte read by " +
      std::to_string(consumers) + (consumers == 1 ? " consumer" : " consumers"));
  LinkFigures figures{measure(run_of(options, config, file), signals), config.ring.slots, consumers, 0};
  figures.limit_bytes_per_s = figures.report.on_gpu()
                                  ? figures.report.link_bytes_per_s
                                  : measure_memcpy_bytes_per_s(figures.report.batch_bytes());
  return figures;
}

nlohmann::ordered_json to_json(const LinkFigures& figures) {
  return {{"device", figures.report.device},
          {"batch_bytes", figures.report.batch_bytes()},
          {"slots", figures.slots},
          {"consumers", figures.consumers},
          {"bytes_per_s", figures.report.bytes_per_s},
          {"limit_bytes_per_s", figures.limit_bytes_per_s},
          {"limit", figures.report.on_gpu() ? "link" : "memcpy"},
          {"share", figures.share()},
          {"run", figures.report.json}};
}

void print_text(const LinkFigures& figures) {
  const auto rate = [](double bytes_per_s) { return fixed_text(bytes_per_s / 1e9, 2) + " GB/s"; };
  std::cout << "on " << device_text(figures.report.device) << "; " << figures.report.steps << " steps of "
            << rounded_size_text(figures.report.batch_bytes()) << "\n\n"
            << text_table({{"egress, every byte read by consumers", rate(figures.report.bytes_per_s)},
                           {"limit: " + figures.limit_text(), rate(figures.limit_bytes_per_s)},
                           {"share", fixed_text(100 * figures.share(), 1) + " %"}});
}

/// "1.4 GiB" or plain bytes.
CLI::Validator size_validator() {
  return CLI::Validator(
      [](std::string& text) {
        const Quantity size = parse_size_bytes(text);
        if (const auto* fault = std::get_if<std::string>(&size)) return "'" + text + "': " + *fault;
        const auto bytes = std::get<std::uint64_t>(size);
        if (bytes < kLeastBatchBytes || bytes > kMostBatchBytes)
          return "'" + text + "' is not between " + size_text(kLeastBatchBytes) + " and " +
                 size_text(kMostBatchBytes);
        text = std::to_string(bytes);
        return std::string();
      },
      "SIZE");
}

}  // namespace

void add_link(CLI::App& bench, Action& action) {
  CLI::App& command = add_command(
      bench, "link",
      "What leaves the device when the model costs next to nothing and consumers read every byte, "
      "against what the link into pinned memory can carry; on the CPU, against memcpy");
  const auto options = std::make_shared<Options>();
  add_overrides(command, options->overrides);
  command
      .add_option("--bytes-per-batch", options->batch_bytes,
                  "\"1.4 GiB\"; default 1344 MiB, on the CPU 64 MiB")
      ->transform(size_validator());
  command.add_option("--slots", options->slots, "Slots of the ring; default 16, on the CPU 4")
      ->check(CLI::Range(1, 1024));
  command.add_option("--consumers", options->consumers, "Processes that read; default 12, on the CPU 1")
      ->check(CLI::Range(1, 255));
  command.add_option("--steps", options->steps, "Batches that count")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--warmup", options->warmup, "Batches before them")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command.add_flag("--json", options->json, "Print JSON, with the producer's report");
  command.callback([options, &action] {
    action = bench_action([options](const ChildSignals& signals) {
      const LinkFigures figures = measure_link(*options, signals);
      if (options->json)
        std::cout << json_text(to_json(figures));
      else
        print_text(figures);
    });
  });
}

}  // namespace tailrace
