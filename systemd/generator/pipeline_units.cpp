#include "systemd/generator/pipeline_units.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "config/instance.hpp"
#include "config/text.hpp"
#include "systemd/generator/unit_file.hpp"
#include "systemd/generator/writable_paths.hpp"

namespace tailrace {
namespace {

constexpr const char* kDropInName = "/50-tailrace.conf";
constexpr const char* kProducerTemplate = "tailrace-producer@.service";
constexpr const char* kConsumerTemplate = "tailrace-consumer@.service";

/// What hardening takes from a program that is not ours, given back.
constexpr const char* kForUsersProgram[] = {
    "PrivateNetwork=no",
    "IPAddressDeny=",
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_NETLINK",
    "PrivateDevices=no",
    "ProtectClock=no",  // it restricts devices
    "DevicePolicy=auto",
    "DeviceAllow=",
    "MemoryDenyWriteExecute=no",
    "SystemCallFilter=",
    "SystemCallFilter=~@clock @cpu-emulation @debug @module @mount @obsolete @raw-io @reboot @swap",
};

/// The drop-in of one service in the making.
class ServiceDropIn {
 public:
  /// `state`: the folder that StateDirectory= gives the service.
  ServiceDropIn(const std::string& source, std::string state, std::vector<std::string>& problems)
      : text_(source), state_(std::move(state)), problems_(problems) {}

  DropIn& text() { return text_; }

  void need_mounted(const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      if (const auto word = word_of(path)) text_.unit("RequiresMountsFor=" + *word);
  }

  /// One that is not there is no error here: the service names it.
  void allow_writing(const std::vector<std::string>& folders) {
    need_mounted(folders);
    for (const std::string& path : with_parents(folders)) {
      if (is_within(path, state_) || is_within(state_, path) || is_within(path, "/dev")) continue;
      if (const auto word = word_of("-" + path)) text_.service("ReadWritePaths=" + *word);
    }
  }

  void allow_users_program() {
    for (const char* assignment : kForUsersProgram) text_.service(assignment);
  }

  void join_group(const std::string& group) {
    const auto word = group.empty() ? std::nullopt : unit_file_word(group);
    if (word) text_.service("SupplementaryGroups=" + *word);
  }

 private:
  std::optional<std::string> word_of(const std::string& path) {
    auto word = unit_file_word(path);
    if (!word) problems_.push_back("unit files cannot hold the path " + quote(path) + ": left out");
    return word;
  }

  DropIn text_;
  std::string state_;
  std::vector<std::string>& problems_;
};

std::vector<std::string> united(std::vector<std::string> first, const std::vector<std::string>& second) {
  for (const std::string& path : second)
    if (std::find(first.begin(), first.end(), path) == first.end()) first.push_back(path);
  return first;
}

}  // namespace

std::pair<std::string, std::string> leftover_drop_in(const std::string& service,
                                                     const std::string& pipeline) {
  DropIn text("what runs: no file asks for this consumer any more");
  text.unit("PartOf=" + target_unit(pipeline));
  text.unit("ConditionPathExists=!/");  // a restart of the target ends it, and does not start it again
  return {service + ".d" + kDropInName, text.text()};
}

PipelineUnitMaker::PipelineUnitMaker(std::string pipeline, std::string source, std::string unit_directory)
    : pipeline_(std::move(pipeline)),
      source_(std::move(source)),
      unit_directory_(std::move(unit_directory)) {}

PipelineUnits PipelineUnitMaker::make(Config config,
                                      const std::function<std::uint32_t(const GroupConfig&)>& processes) {
  if (config.pipeline.state.empty()) config.pipeline.state = service_state(pipeline_);
  add_producer(config);
  std::set<std::string> seen;
  const bool has_consumers = config.egress.strategy != EgressStrategyKind::kInline;
  for (const GroupConfig& group : config.groups)
    if (has_consumers && is_name(group.name) && seen.insert(group.name).second)
      add_group(config, group, processes(group));
  return std::move(units_);
}

PipelineUnits PipelineUnitMaker::make_for_unreadable() {
  want(producer_unit(pipeline_), kProducerTemplate);
  return std::move(units_);
}

void PipelineUnitMaker::want(const std::string& service, const std::string& unit_template) {
  units_.links[target_unit(pipeline_) + ".wants/" + service] = unit_directory_ + "/" + unit_template;
}

void PipelineUnitMaker::add_producer(const Config& config) {
  const std::string service = producer_unit(pipeline_);
  want(service, kProducerTemplate);
  ServiceDropIn drop_in(source_, service_state(pipeline_), units_.problems);
  auto folders = united(common_folders(config), producer_folders(config));
  bool runs_users_program = false;
  if (config.egress.strategy == EgressStrategyKind::kInline) {
    for (const GroupConfig& group : config.groups) {
      folders = united(std::move(folders), sink_folders(group.sink));
      runs_users_program = runs_users_program || group.sink.kind == SinkKind::kExec;
    }
  }
  drop_in.need_mounted(producer_inputs(config));
  drop_in.allow_writing(folders);
  drop_in.join_group(config.ring.group);
  if (runs_users_program) drop_in.allow_users_program();
  units_.drop_ins[service + ".d" + kDropInName] = drop_in.text().text();
}

void PipelineUnitMaker::add_group(const Config& config, const GroupConfig& group, std::uint32_t processes) {
  ServiceDropIn drop_in(source_, service_state(pipeline_), units_.problems);
  DropIn& text = drop_in.text();
  text.unit("PartOf=" + target_unit(pipeline_));
  text.unit("Wants=" + producer_unit(pipeline_));
  text.unit("After=" + producer_unit(pipeline_));
  text.service("StateDirectory=tailrace/" + pipeline_);
  drop_in.allow_writing(united(common_folders(config), sink_folders(group.sink)));
  drop_in.join_group(config.ring.group);
  if (group.sink.kind == SinkKind::kExec) drop_in.allow_users_program();
  for (std::uint32_t number = 1; number <= processes; ++number) {
    const std::string service = consumer_unit(pipeline_, group.name, std::to_string(number));
    want(service, kConsumerTemplate);
    units_.drop_ins[service + ".d" + kDropInName] = text.text();
  }
}

}  // namespace tailrace
