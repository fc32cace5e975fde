#include "ctl/quarantine.hpp"

#include <cerrno>
#include <charconv>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/exit_codes.hpp"
#include "config/load.hpp"
#include "config/text.hpp"
#include "ctl/json_text.hpp"
#include "ledger/failures_json.hpp"
#include "ledger/incidents.hpp"
#include "ledger/set_aside.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string file;
  std::vector<std::string> overrides;
  std::string group;
  std::optional<std::uint64_t> batch;
  bool skipped = false;
  bool json = false;
};

/// The command line names a group that is nowhere.
class NoSuchGroup : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What was set aside, as far as the options ask for it.
class Quarantine {
 public:
  using Open = Ledger (*)(const std::string& state_folder, Ledger::KeepWaiting keep_waiting);

  Quarantine(const Options& options, Open open)
      : config_(load_config(options.file, options.overrides, process_environment()).config),
        state_(config_.pipeline.state),
        ledger_(open(state_, {})),
        batches_(set_aside_batches(ledger_)) {
    if (!options.group.empty()) require_group(options.group);
    std::erase_if(batches_, [&](const SetAsideBatch& batch) {
      return (!options.group.empty() && batch.group != options.group) ||
             (options.batch && batch.batch != *options.batch);
    });
  }

  [[nodiscard]] const std::vector<SetAsideBatch>& batches() const { return batches_; }
  [[nodiscard]] std::vector<Failure> failures(const SetAsideBatch& batch) const {
    return failures_of(ledger_, batch.group, batch.batch);
  }
  /// Of this group, or of all.
  std::uint64_t forget_skipped_items(const std::string& only) {
    std::uint64_t items = 0;
    for (const GroupConfig& group : config_.groups)
      if (only.empty() || group.name == only) items += forget_skipped(ledger_, group.name);
    return items;
  }
  std::uint64_t forget(const SetAsideBatch& batch) {
    return forget_set_aside(ledger_, batch.group, batch.batch);
  }

 private:
  /// A group that the file does not have any more may still have batches here.
  void require_group(const std::string& name) const {
    const std::vector<std::string> named = group_names(config_);
    std::set<std::string> there(named.begin(), named.end());
    for (const SetAsideBatch& batch : batches_) there.insert(batch.group);
    if (there.count(name) != 0) return;
    const std::vector<std::string> names(there.begin(), there.end());
    throw NoSuchGroup("--group: no group " + in_quotes(name) + " (there are: " + joined(names) + ")");
  }

  Config config_;
  std::string state_;
  Ledger ledger_;
  std::vector<SetAsideBatch> batches_;
};

Json to_json(const SetAsideBatch& batch, const std::vector<Failure>& failures) {
  return {{"group", batch.group},
          {"batch", batch.batch},
          {"items", batch.items},
          {"names", batch.names},
          {"reason", batch.reason},
          {"deliveries", batch.attempts},
          {"attempts", tailrace::to_json(failures)},
          {"files", batch.files}};
}

void print_json(const Quarantine& quarantine) {
  Json all = Json::array();
  for (const SetAsideBatch& batch : quarantine.batches())
    all.push_back(to_json(batch, quarantine.failures(batch)));
  std::cout << json_text(Json{{"batches", all}});
}

std::string title_of(const SetAsideBatch& batch) {
  return "group " + batch.group + ", batch " + std::to_string(batch.batch) + ": " +
         std::to_string(batch.items.size()) + (batch.items.size() == 1 ? " item, " : " items, ") +
         printable(batch.reason);
}

void print(const SetAsideBatch& batch, const std::vector<Failure>& failures) {
  std::cout << title_of(batch) << '\n';
  for (const Failure& failure : failures)
    std::cout << "  attempt " << failure.attempt << ", pid " << failure.pid << ": " << printable(failure.what)
              << '\n';
  for (std::size_t i = 0; i < batch.items.size(); ++i)
    std::cout << "  item " << batch.items[i]
              << (batch.names[i].empty() ? "" : ", " + in_quotes(batch.names[i])) << '\n';
  for (const std::string& file : batch.files) std::cout << "  " << printable(file) << '\n';
}

int list(const Options& options) {
  const Quarantine quarantine(options, Ledger::open_to_read);
  if (options.json) {
    print_json(quarantine);
    return kExitDone;
  }
  for (const SetAsideBatch& batch : quarantine.batches()) std::cout << title_of(batch) << '\n';
  if (quarantine.batches().empty()) std::cerr << "tailrace: nothing was set aside\n";
  return kExitDone;
}

int nothing_there(const Options& options) {
  std::cerr << "tailrace: nothing was " << (options.skipped ? "skipped" : "set aside")
            << (options.batch ? " of batch " + std::to_string(*options.batch) : "")
            << (options.group.empty() ? "" : " in group " + options.group) << '\n';
  return kExitNoDevice;
}

int show(const Options& options) {
  const Quarantine quarantine(options, Ledger::open_to_read);
  if (quarantine.batches().empty()) return nothing_there(options);
  if (options.json)
    print_json(quarantine);
  else
    for (const SetAsideBatch& batch : quarantine.batches()) print(batch, quarantine.failures(batch));
  return kExitDone;
}

int retry(const Options& options) {
  Quarantine quarantine(options, Ledger::open);
  std::uint64_t items = options.skipped ? quarantine.forget_skipped_items(options.group) : 0;
  if (!options.skipped)
    for (const SetAsideBatch& batch : quarantine.batches()) items += quarantine.forget(batch);
  if (items == 0) return nothing_there(options);
  std::cerr << "tailrace: " << items << (items == 1 ? " item" : " items")
            << " will be done again: by the run that is going on, before it ends, or else by the next one\n";
  return kExitDone;
}

int run(const Options& options, int (*work)(const Options&)) {
  try {
    return work(options);
  } catch (const NoSuchGroup& error) {
    std::cerr << "tailrace: " << error.what() << '\n';
    return kExitUsage;
  } catch (const LedgerError& error) {
    if (error.code().value() != ENOENT) throw;
    std::cerr << "tailrace: " << error.what() << "; has the pipeline run yet?\n";
    return kExitNoDevice;
  }
}

/// CLI11 takes "-1" and what does not fit for the largest number, and "010" for 8.
std::string fault_of_number(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const bool has_other_base = text.size() > 1 && text.front() == '0';
  return error == std::errc() && rest == end && !has_other_base
             ? ""
             : in_quotes(text) + " is no number of a batch (0, 1, 2, …)";
}

void add_part(CLI::App& command, Action& action, const std::string& name, const std::string& description,
              int (*work)(const Options&), bool prints) {
  CLI::App& part = add_command(command, name, description);
  const auto options = std::make_shared<Options>();
  part.add_option("FILE", options->file, "The pipeline's TOML file")->required();
  part.add_option("--set", options->overrides, "KEY=VALUE over the file and the environment; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  part.add_option("--group", options->group, "Only of this group");
  auto* batch = part.add_option("--batch", options->batch, "Only this batch")
                    ->check(CLI::Validator(fault_of_number, "", "batch number"));
  if (!prints)
    part.add_flag("--skipped", options->skipped,
                  "Not what was set aside, but the items that could not be read")
        ->excludes(batch);
  if (prints) part.add_flag("--json", options->json, "Print JSON; docs/failure_model.md has the keys");
  part.callback([options, &action, work] { action = [options, work] { return run(*options, work); }; });
}

}  // namespace

void add_quarantine(CLI::App& app, Action& action) {
  CLI::App& command =
      add_command(app, "quarantine", "What was set aside, why, and how to have it done again");
  command.require_subcommand(1);
  add_part(command, action, "list", "One line for each batch that was set aside", list, true);
  add_part(command, action, "show", "Its items, the attempts that failed and where its bytes are", show,
           true);
  add_part(command, action, "retry", "Have it done again, by the run that is going on or the next one", retry,
           false);
}

}  // namespace tailrace
