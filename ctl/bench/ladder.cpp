#include "ctl/bench/ladder.hpp"

#include <unistd.h>

#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "config/load.hpp"
#include "ctl/bench/bar_chart.hpp"
#include "ctl/bench/bench_action.hpp"
#include "ctl/bench/default_pipelines.hpp"
#include "ctl/bench/ladder_result.hpp"
#include "ctl/bench/measured_run.hpp"
#include "ctl/bench/temporary_folder.hpp"
#include "ctl/json_text.hpp"

namespace tailrace {
namespace {

const std::vector<std::string> kStrategies{"inline", "workers", "pool", "async", "streams"};

struct Options {
  std::string file;
  std::vector<std::string> overrides;
  std::vector<std::string> strategies = kStrategies;
  std::uint32_t steps = 30;
  std::uint32_t warmup = 5;
  std::uint32_t repeat = 1;
  bool json = false;
  std::string plot;
};

/// Folders of results, beside those of the pipeline's own: same disk, other files. Gone at the end.
class ResultFolders {
 public:
  explicit ResultFolders(const Config& config) {
    for (const GroupConfig& group : config.groups)
      if (group.sink.kind == SinkKind::kPngMask || group.sink.kind == SinkKind::kNpy)
        overrides_.push_back("group." + group.name + ".sink.path=" +
                             folders_.emplace_back(group.sink.path + "." + bench_name() + "-" + group.name));
  }
  ResultFolders(const ResultFolders&) = delete;
  ResultFolders& operator=(const ResultFolders&) = delete;
  ~ResultFolders() { remove(); }

  [[nodiscard]] const std::vector<std::string>& overrides() const { return overrides_; }
  void remove() const {
    std::error_code ignored;
    for (const std::string& folder : folders_)
      for (const char* suffix : {"", "-overlay"}) std::filesystem::remove_all(folder + suffix, ignored);
  }

 private:
  std::vector<std::string> folders_;
  std::vector<std::string> overrides_;
};

/// The pipeline whose egress is measured, and what is the same in all its runs.
class Ladder {
 public:
  Ladder(const Options& options, std::string file)
      : options_(&options), file_(std::move(file)), config_(load()), results_(config_) {}

  RunReport measure_strategy(const std::string& strategy, const ChildSignals& signals) const {
    RunReport report = measure(run_of(strategy), signals);
    results_.remove();
    return report;
  }

 private:
  [[nodiscard]] Config load() const {
    std::vector<std::string> overrides = options_->overrides;
    overrides.emplace_back("egress.strategy=streams");
    return load_config(file_, overrides, process_environment()).config;
  }

  [[nodiscard]] MeasuredRun run_of(const std::string& strategy) const {
    MeasuredRun run{strategy,
                    file_,
                    options_->overrides,
                    config_.ring.directory,
                    {options_->warmup, options_->steps},
                    config_.source.kind != SourceKind::kSynthetic};
    run.overrides.push_back("egress.strategy=" + strategy);
    if (!run.goes_on)
      run.overrides.push_back(
          "source.items=" +
          std::to_string(std::uint64_t{options_->warmup + options_->steps} * config_.source.batch_size));
    if (strategy == "inline")
      for (const GroupConfig& group : config_.groups)
        run.overrides.push_back("group." + group.name + ".processes=1");
    run.overrides.insert(run.overrides.end(), results_.overrides().begin(), results_.overrides().end());
    return run;
  }

  const Options* options_;
  std::string file_;
  Config config_;
  ResultFolders results_;
};

std::vector<LadderRung> climb(const Options& options, const std::string& file, const ChildSignals& signals) {
  const Ladder ladder(options, file);
  std::vector<LadderRung> rungs;
  for (const std::string& strategy : options.strategies) rungs.push_back({strategy, {}});
  // One of each, then again: what changes with time hits all of them alike.
  for (std::uint32_t round = 1; round <= options.repeat; ++round)
    for (LadderRung& rung : rungs) {
      say("measuring " + rung.strategy +
          (options.repeat > 1 ? " (" + std::to_string(round) + " of " + std::to_string(options.repeat) + ")"
                              : ""));
      rung.runs.push_back(ladder.measure_strategy(rung.strategy, signals));
      if (rung.runs.back().left_out)
        say(rung.strategy +
            ": some items were skipped or set aside (exit code 3): the figures count work "
            "that gave no result");
    }
  return rungs;
}

std::string default_file(const TemporaryFolder& folder, const Options& options, const ChildSignals& signals) {
  const auto file = folder.file("ladder.toml");
  std::ofstream(file) << ladder_pipeline(runs_on_gpu(options.overrides, signals));
  return file.string();
}

void measure_ladder(const Options& options, const ChildSignals& signals) {
  if (!options.plot.empty()) check_can_draw(options.plot);
  const TemporaryFolder folder;
  const std::string file = options.file.empty() ? default_file(folder, options, signals) : options.file;
  const std::vector<LadderRung> rungs = climb(options, file, signals);
  if (options.json)
    std::cout << json_text(ladder_json(rungs));
  else
    std::cout << ladder_text(rungs);
  std::cout.flush();
  if (!options.plot.empty()) draw_png(ladder_chart(rungs), options.plot, signals);
}

}  // namespace

void add_ladder(CLI::App& bench, Action& action) {
  CLI::App& command = add_command(bench, "ladder",
                                  "One pipeline with each egress strategy, side by side. Without FILE: large "
                                  "outputs of a network with random "
                                  "weights on a GPU, a small synthetic model on the CPU. With FILE: its "
                                  "model, input and sinks; results go to "
                                  "folders of their own, which are removed");
  const auto options = std::make_shared<Options>();
  command.add_option("FILE", options->file, "The pipeline's TOML file");
  add_overrides(command, options->overrides);
  command.add_option("--strategies", options->strategies, "Those to measure, in this order")
      ->delimiter(',')
      ->check(CLI::IsMember(kStrategies))
      ->capture_default_str();
  command.add_option("--steps", options->steps, "Batches that count")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--warmup", options->warmup, "Batches before them")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command.add_option("--repeat", options->repeat, "Runs of each strategy, of which the median is told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command.add_flag("--json", options->json, "Print JSON, with the report of every run");
  command.add_option("--plot", options->plot, "Draw a bar chart (needs gnuplot)")->type_name("FILE.png");
  command.callback([options, &action] {
    action = bench_action([options](const ChildSignals& signals) { measure_ladder(*options, signals); });
  });
}

}  // namespace tailrace
