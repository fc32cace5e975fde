#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/exit_code_of.hpp"
#include "config/exit_codes.hpp"
#include "config/load.hpp"
#include "consumer/sinks/check_outputs.hpp"
#include "consumer/sinks/recording_sink.hpp"
#include "consumer/sinks/sink.hpp"
#include "ledger/job_ledger.hpp"
#include "ledger/manifest.hpp"
#include "producer/device.hpp"
#include "producer/errors.hpp"
#include "producer/inline_job.hpp"
#include "producer/ring_job.hpp"
#include "producer/sources/make_source.hpp"
#include "systemd/ledger_wait.hpp"
#include "systemd/log.hpp"
#include "systemd/program.hpp"

namespace {

using namespace tailrace;

struct CommandLine {
  std::string config;
  std::vector<std::string> overrides;
  bool accept_changed_items = false;
};

/// What `inline` does for one group.
struct InlineGroup {
  std::unique_ptr<Sink> sink;
  RecordingSink recording;
};

/// The strategy `inline`: every group's sink, one after the other, in this process.
InlineEgress::Handler all_sinks(const Config& config) {
  auto groups = std::make_shared<std::vector<InlineGroup>>();
  for (const GroupConfig& group : config.groups) {
    auto sink = make_sink(group.sink, model_input_size(config.source));
    RecordingSink recording(*sink, GroupLedger(Ledger::open(config.pipeline.state), group.name));
    groups->push_back({std::move(sink), std::move(recording)});
  }
  return [groups](const BatchView& batch) {
    for (InlineGroup& group : *groups) group.recording.process(batch, 1);
  };
}

// Items that are made on the spot have no names of their own.
JobLedger::NameAt names_of(const Config& config, const Source& source) {
  if (config.source.kind == SourceKind::kSynthetic) return {};
  return [&source](std::uint64_t position) {
    Row row;
    source.describe(position, row);
    return row.name;
  };
}

/// A sink that cannot take what the model gives would set every batch aside.
void check_groups(const Config& config, const Model& model) {
  std::vector<TensorView> outputs;
  for (const OutputTensor& output : model.probed_outputs())
    outputs.push_back({output.name, output.shape, output.per_row, {}});
  for (const GroupConfig& group : config.groups) {
    try {
      check_outputs(group.sink, outputs);
    } catch (const std::runtime_error& error) {
      throw ModelError("group " + group.name + ": " + error.what());
    }
  }
}

ProfileOutputs make_outputs(const ProfileConfig& config, const Device& device) {
  ProfileOutputs outputs;
  if (!config.report.empty()) outputs.report = std::make_unique<ProfileFile>(config.report, "profile.report");
  if (!config.trace.empty()) outputs.trace = make_trace_recorder(config.trace, device);
  return outputs;
}

// Its consumers finish what is published, and leave it.
void discard_old_ring(const ProducerRole& role, const StopSignals& signals) {
  discard_ring(
      role, [](const std::string& line) { spdlog::info("{}", line); },
      [&signals] { return signals.stop_requested(); });
}

int end_finished_job(const Config& config, const ProducerRole& role, JobRecord& record,
                     const StopSignals& signals) {
  spdlog::info("nothing is left to do; to begin anew, delete the folder {}", config.pipeline.state);
  const int code = record.finish();
  discard_old_ring(role, signals);
  return code;
}

int run_producer(const Config& config, bool accept_changed_items, StopSignals& signals) {
  ProducerRole role = take_role(files_of(config), config.pipeline.name);
  const auto source = make_source(config.source);
  JobLedger ledger(Ledger::create(config.pipeline.state, wait_until_stopped(signals)));
  const JobIdentity job = job_identity(config, *source);
  // Its consumers write rows with the former numbers of the items.
  if (accept_changed_items) discard_old_ring(role, signals);
  if (const auto warning = ledger.begin(job, names_of(config, *source), accept_changed_items))
    spdlog::warn("{}", *warning);
  JobRecord record(ledger, job.items, config.pipeline.state, group_names(config));
  if (record.plan().nothing_to_do()) return end_finished_job(config, role, record, signals);
  remove_manifest(config.pipeline.state);  // it speaks of another time
  const auto device = make_device(config.pipeline.device);
  spdlog::info("device {}", device->description());
  if (config.model.cuda_graph == CudaGraph::kOn && !device->is_cuda())
    spdlog::warn("model.cuda_graph = \"on\" does nothing without a GPU");
  const ProfileOutputs outputs = make_outputs(config.profile, *device);
  const auto model = load_model(config.model, config.egress, config.source, source->spec(), *device);
  check_groups(config, *model);
  if (const std::string how = model->description(); !how.empty()) spdlog::info("the model runs {}", how);
  for (const std::string& note : model->notes()) spdlog::warn("{}", note);
  const JobParts parts{config, *source, *model, *device, outputs, record};
  if (config.egress.strategy == EgressStrategyKind::kInline)
    return run_inline_job(parts, signals, all_sinks(config));
  return run_ring_jobs(parts, std::move(role), signals);
}

std::optional<int> own_exit_code(const std::exception& error) {
  if (dynamic_cast<const ModelError*>(&error) != nullptr) return kExitConfig;
  if (dynamic_cast<const JobChanged*>(&error) != nullptr) return kExitConfig;
  if (dynamic_cast<const FileError*>(&error) != nullptr && exit_code_of(error) == kExitUnexpected)
    return kExitIo;
  if (dynamic_cast<const std::invalid_argument*>(&error) != nullptr) return kExitConfig;
  if (dynamic_cast<const NoSuchDevice*>(&error) != nullptr) return kExitNoDevice;
  if (dynamic_cast<const CudaError*>(&error) != nullptr) return kExitGpu;
  if (dynamic_cast<const OutOfDeviceMemory*>(&error) != nullptr) return kExitTryAgain;
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Runs a pipeline's model and fills the ring that its consumers lease from",
               "tailrace-producer");
  CommandLine line;
  app.set_version_flag("--version", "tailrace-producer " TAILRACE_VERSION, "Print the version and exit");
  app.add_option("--config", line.config, "The pipeline's TOML file")->type_name("FILE")->required();
  app.add_option("--set", line.overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag(
      "--accept-changed-items", line.accept_changed_items,
      "Go on although the list of items is another one than before: those that are still in it stay done");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return run_program(
      "producer",
      [&] {
        const Config config = load_config(line.config, line.overrides, process_environment()).config;
        StopSignals signals;
        set_up_logging(config.log, "producer[" + config.pipeline.name + "]");
        return run_producer(config, line.accept_changed_items, signals);
      },
      own_exit_code);
}
