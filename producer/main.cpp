#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/instance.hpp"
#include "config/load.hpp"
#include "config/memory_check.hpp"
#include "config/text.hpp"
#include "consumer/sinks/check_outputs.hpp"
#include "consumer/sinks/make_sink.hpp"
#include "consumer/sinks/recording_sink.hpp"
#include "consumer/sinks/sink.hpp"
#include "consumer/sinks/sink_identity.hpp"
#include "ledger/job_ledger.hpp"
#include "ledger/manifest.hpp"
#include "producer/device.hpp"
#include "producer/errors.hpp"
#include "producer/inline_job.hpp"
#include "producer/ring_job.hpp"
#include "producer/ring_start.hpp"
#include "producer/sources/make_source.hpp"
#include "shm/producer_end.hpp"
#include "shm/ring_owner.hpp"
#include "systemd/ledger_wait.hpp"
#include "systemd/log.hpp"
#include "systemd/program.hpp"
#include "systemd/service.hpp"
#include "systemd/work_done.hpp"

namespace {

using namespace tailrace;

struct CommandLine {
  std::string config;
  std::string instance;  // the pipeline that a service is named after
  std::vector<std::string> overrides;
  bool accept_changed_items = false;

  /// The file and its overrides, as often as it is asked for.
  [[nodiscard]] LoadedConfig load() const {
    LoadedConfig loaded =
        load_config(instance.empty() ? config : find_config(instance), overrides, process_environment());
    if (!instance.empty()) check_pipeline_name(loaded, instance);
    return loaded;
  }
};

/// What `inline` does for one group.
struct InlineGroup {
  std::unique_ptr<Sink> sink;
  RecordingSink recording;
  std::chrono::nanoseconds progress_limit;
};

/// The strategy `inline`: every group's sink, one after the other, in this process.
InlineEgress::Handler all_sinks(const Config& config, Service& service) {
  auto groups = std::make_shared<std::vector<InlineGroup>>();
  for (const GroupConfig& group : config.groups) {
    auto sink = make_sink(group.sink, model_input_size(config.source));
    RecordingSink recording(
        *sink, GroupLedger(Ledger::open(config.pipeline.state, wait_until_stopped(service)), group.name));
    groups->push_back({std::move(sink), std::move(recording), group.progress_limit});
  }
  return [groups, &life = service.life](const BatchView& batch) {
    for (InlineGroup& group : *groups) {
      const Lifesign::Allowance allowance(life, group.progress_limit);
      group.recording.process(batch, 1);
    }
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

/// As job_identity(), with what only the sinks know.
JobIdentity whole_identity(const Config& config, const Source& source) {
  JobIdentity job = job_identity(config, source);
  for (const GroupConfig& group : config.groups) job.sinks.push_back(identity_of(group));
  job.output_name_at = [&source](std::uint64_t position) {
    Row row;
    source.describe(position, row);
    return row.output_name;
  };
  return job;
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
void discard_old_ring(const ProducerRole& role, Service& service) {
  RingStart progress(service);
  discard_ring(
      role, [&](const std::string& line) { progress.say(line); }, [&] { return progress.should_stop(); });
}

// Nothing is begun yet that has to be ended in order, and what a load is at cannot be interrupted.
[[noreturn]] void leave_at_once(const ProducerRole& role) noexcept {
  spdlog::info("stopped while loading; there is nothing to finish");
  finish_logging();
  role.remove_unused();
  _exit(kExitDone);
}

// Empty: a moment ago somebody had items done again.
std::optional<int> end_finished_job(const Config& config, const ProducerRole& role, JobRecord& record,
                                    Service& service) {
  spdlog::info("nothing is left to do; to begin anew, delete the folder {}", config.pipeline.state);
  const auto code = record.finish();
  if (!code) return code;
  service.life.ready();  // a service that ends before it is ready has failed
  discard_old_ring(role, service);
  return code;
}

int run_producer(const Config& config, bool accept_changed_items, Service& service) {
  ProducerRole role = take_role(files_of(config), config.pipeline.name);
  std::optional<StopSignals::StopHook> leave(std::in_place, service.signals,
                                             [&role] { leave_at_once(role); });
  std::optional<Lifesign::Stage> stage(std::in_place, service.life, "reading the list of items",
                                       [] { return work_done_by_others(true); });
  const auto source = make_source(config.source);
  JobLedger ledger(Ledger::create(config.pipeline.state, wait_until_stopped(service)));
  const JobIdentity job = whole_identity(config, *source);
  // Its consumers write rows with the former numbers of the items.
  if (accept_changed_items) discard_old_ring(role, service);
  for (const std::string& warning : ledger.begin(job, names_of(config, *source), accept_changed_items))
    spdlog::warn("{}", warning);
  JobRecord record(ledger, job.items, config.pipeline.state, group_names(config), service.life);
  BatchPlan plan = record.plan();
  for (; plan.nothing_to_do(); plan = record.plan())
    if (const auto code = end_finished_job(config, role, record, service)) return *code;
  remove_manifest(config.pipeline.state);  // it speaks of another time
  stage.emplace(service.life, "opening the device", [] { return work_done_by_others(false); });
  const auto device = make_device(config.pipeline.device);
  spdlog::info("device {}", device->description());
  if (config.model.cuda_graph == CudaGraph::kOn && !device->is_cuda())
    spdlog::warn("model.cuda_graph = \"on\" does nothing without a GPU");
  const ProfileOutputs outputs = make_outputs(config.profile, *device);
  stage.emplace(service.life, "loading the model",
                [on_cpu = !device->is_cuda()] { return work_done_by_others(on_cpu); });
  const auto model = load_model(config.model, config.egress, config.source, source->spec(), *device);
  check_groups(config, *model);
  if (const std::string how = model->description(); !how.empty()) spdlog::info("the model runs {}", how);
  for (const std::string& note : model->notes()) spdlog::warn("{}", note);
  leave.reset();
  stage.reset();
  const JobParts parts{config, *source, *model, *device, outputs, record};
  if (config.egress.strategy == EgressStrategyKind::kInline)
    return run_inline_job(parts, std::move(plan), service, all_sinks(config, service));
  if (const auto warning = directory_warning(config.ring.directory)) spdlog::warn("{}", *warning);
  return run_ring_jobs(parts, std::move(plan), std::move(role), service);
}

std::optional<int> own_exit_code(const std::exception& error) {
  if (dynamic_cast<const ModelError*>(&error) != nullptr) return kExitConfig;
  if (dynamic_cast<const JobChanged*>(&error) != nullptr) return kExitConfig;
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
  auto* config = app.add_option("--config", line.config, "The pipeline's TOML file")->type_name("FILE");
  auto* instance =
      app.add_option("--instance", line.instance, "PIPELINE, reads /etc/tailrace/PIPELINE.toml")
          ->type_name("PIPELINE")
          ->excludes(config)
          ->check([](const std::string& name) {
            return is_name(name) ? std::string() : "'" + name + "' is not the name of a pipeline";
          });
  app.add_option("--set", line.overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag(
      "--accept-changed-items", line.accept_changed_items,
      "Go on although the list of items is another one than before: those that are still in it stay done");
  app.callback([config, instance] {
    if (config->count() + instance->count() == 0) throw CLI::RequiredError("--config or --instance");
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return run_program(
      "producer",
      [&] {
        const LoadedConfig loaded = line.load();
        Service service(loaded, [&line] { return line.load(); }, {"producer", loaded.config.pipeline.name});
        try {
          return run_producer(loaded.config, line.accept_changed_items, service);
        } catch (const RingBusy&) {
          throw;  // the ring is another one's, who has not failed
        } catch (const std::exception& error) {
          note_producer_end(files_of(loaded.config), service_exit_code(error, own_exit_code));
          throw;
        }
      },
      own_exit_code, line.instance);
}
