#include "ledger/job_ledger.hpp"

#include <cerrno>
#include <random>
#include <utility>

#include "ledger/database.hpp"
#include "ledger/group_table.hpp"
#include "ledger/item_rows.hpp"
#include "ledger/job_row.hpp"
#include "ledger/kept_files.hpp"
#include "ledger/list_change.hpp"
#include "ledger/name_table.hpp"
#include "ledger/sink_table.hpp"
#include "ledger/transaction.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

NameList names_of(std::uint64_t count, const JobLedger::NameAt& name_at) {
  NameList names;
  for (std::uint64_t position = 0; position < count; ++position) names.add(name_at(position));
  return names;
}

NameList stored_names(Database& database, std::uint64_t count) {
  NameTable table(database);
  return names_of(count, [&](std::uint64_t position) { return std::string(table.at(position)); });
}

bool same_items(const ItemMap& a, const ItemMap& b) {
  return a.position_count == b.position_count && a.shard_index == b.shard_index &&
         a.shard_count == b.shard_count;
}

[[noreturn]] void refuse_pipeline(const Database& database, const std::string& owner,
                                  const std::string& other) {
  throw JobChanged("the ledger " + in_quotes(database.path()) + " belongs to the pipeline " +
                   in_quotes(owner) + ", not to " + in_quotes(other) +
                   "; give each pipeline a folder of its own (pipeline.state), or delete the folder to "
                   "begin anew");
}

[[noreturn]] void refuse_list(const Database& database, const std::string& what) {
  throw JobChanged(
      "the items are not those of the ledger " + in_quotes(database.path()) + ": " + what +
      "; with --accept-changed-items only the new ones are done, the others stay as they are; to begin anew, "
      "delete the folder");
}

[[noreturn]] void refuse_nameless_list(const Database& database, const ItemMap& before,
                                       const ItemMap& after) {
  throw JobChanged(
      "the items are not those of the ledger " + in_quotes(database.path()) + ": there were " +
      std::to_string(before.position_count) + ", now there are " + std::to_string(after.position_count) +
      " or others; items that are made on the spot have no names by which they could be found again: "
      "delete the folder to begin anew");
}

bool has_rows(Database& database) { return database.integer("SELECT EXISTS(SELECT 1 FROM items)") != 0; }

[[noreturn]] void refuse_batches(const Database& database) {
  throw JobChanged(
      "which items make up a batch has changed since the ledger " + in_quotes(database.path()) +
      " was begun, and the files of some group hold whole batches: restore source.batch_size and "
      "source.shard, or delete the folder (and the files) to begin anew");
}

[[noreturn]] void refuse_list_of_batches(const Database& database, const std::string& what) {
  throw JobChanged(
      "the items are not those of the ledger " + in_quotes(database.path()) + ": " + what +
      "; the files of some group hold whole batches, which would not fit any more: restore the list, or "
      "delete the folder and these files to begin anew");
}

/// The list is another one.
void change_list(Database& database, const JobRow& stored, const JobIdentity& job,
                 const JobLedger::NameAt& name_at, bool accept, bool fixed_batches) {
  if (!name_at || !NameTable(database).has_names()) refuse_nameless_list(database, stored.items, job.items);
  const JobList before{stored_names(database, stored.items.position_count), stored.items};
  const JobList after{names_of(job.items.position_count, name_at), job.items};
  const ListChange change = compare(before.names, after.names);
  if (fixed_batches && has_rows(database)) refuse_list_of_batches(database, describe(change, before, after));
  if (!accept) refuse_list(database, describe(change, before, after));
  renumber_rows(database, change, before.items, after.items);
  store_names(database, after.names.size(),
              [&](std::uint64_t position) { return std::string(after.names[position]); });
}

std::string mixed_results(const Database& database) {
  return "results in the ledger " + in_quotes(database.path()) +
         " were made with another model or other settings; they are kept. To make all anew, delete the "
         "folder";
}

GroupTotals totals_of(Database& database, const std::string& group, const ItemMap& items) {
  GroupTotals totals;
  totals.group = group;
  std::uint64_t next = 0;  // all positions below have a row, as long as none is missing
  const auto count = [&](std::uint64_t position, ItemState state) {
    if (position == next) ++next;
    ++(state == ItemState::kDone      ? totals.done
       : state == ItemState::kSkipped ? totals.skipped
                                      : totals.set_aside);
  };
  if (const auto id = find_group(database, group)) for_each_row(database, *id, items, count);
  totals.missing = items.position_count - totals.done - totals.skipped - totals.set_aside;
  if (totals.missing != 0) totals.first_missing = items.item(next);
  return totals;
}

std::vector<GroupTotals> totals_of(Database& database, std::span<const std::string> groups,
                                   const ItemMap& items) {
  std::vector<GroupTotals> all;
  for (const std::string& group : groups) all.push_back(totals_of(database, group, items));
  return all;
}

// Empty: there is no ledger, or nobody has begun a job in it.
std::optional<JobRow> read_job_of(const std::string& state_folder) {
  try {
    const Ledger ledger = Ledger::open_to_read(state_folder);
    return read_job(ledger.database());
  } catch (const LedgerError& error) {
    if (error.code().value() == ENOENT) return std::nullopt;
    throw;
  }
}

// Never 0, which stands for no ledger.
std::uint64_t random_id() {
  std::random_device device;
  return (std::uint64_t{device()} << 32 | device()) | 1;
}

JobRow row_of(const JobIdentity& job) {
  return {job.pipeline, job.list_digest, job.model_digest, job.items, false, false, 0};
}

/// False: all sinks are as they were.
bool note_sinks(Database& database, const std::vector<GroupSink>& sinks, std::vector<std::string>& warnings) {
  const std::size_t before = warnings.size();
  for (const GroupSink& sink : sinks)
    if (auto warning = note_sink(database, sink.group, sink.text)) warnings.push_back(std::move(*warning));
  return warnings.size() != before;
}

}  // namespace

std::vector<std::string> JobLedger::begin(const JobIdentity& job, const NameAt& name_at, bool accept) {
  Database& database = ledger_.database();
  Transaction transaction(database, Transaction::Kind::kWrite);
  const std::optional<JobRow> stored = read_job(database);
  if (stored && stored->pipeline != job.pipeline) refuse_pipeline(database, stored->pipeline, job.pipeline);
  const bool same_list = stored && stored->list_digest == job.list_digest;
  const bool fixed_batches = job.fixed_batches || (stored && stored->fixed_batches && has_rows(database));
  if (same_list && fixed_batches && has_rows(database) && stored->items != job.items)
    refuse_batches(database);
  if (stored && !same_list)
    change_list(database, *stored, job, name_at, accept, fixed_batches);
  else if (!stored || !same_items(stored->items, job.items))
    store_names(database, name_at ? job.items.position_count : 0, name_at);
  if (stored && !(same_list && stored->items == job.items)) drop_former_failures(database);
  JobRow row = row_of(job);
  row.fixed_batches = fixed_batches;
  row.ledger_id = same_list ? stored->ledger_id : random_id();
  const bool mixed = stored && stored->model_digest != job.model_digest && has_rows(database);
  if (mixed) row.model_digest.reset();
  write_job(database, row);
  std::vector<std::string> warnings;
  if (mixed) warnings.push_back(mixed_results(database));
  const bool other_sinks = note_sinks(database, job.sinks, warnings);
  if (stored && (!same_list || other_sinks)) refuse_to_replace_files(database, job, name_at);
  transaction.commit();
  return warnings;
}

std::vector<bool> JobLedger::finished(std::span<const std::string> groups) {
  Database& database = ledger_.database();
  Transaction transaction(database, Transaction::Kind::kRead);
  const std::optional<JobRow> job = read_job(database);
  if (!job) return {};
  std::vector<bool> all(job->items.position_count, true);
  for (const std::string& group : groups) {
    std::vector<bool> through(all.size());
    if (const auto id = find_group(database, group))
      for_each_row(database, *id, job->items,
                   [&](std::uint64_t position, ItemState) { through[position] = true; });
    for (std::size_t position = 0; position < all.size(); ++position)
      if (!through[position]) all[position] = false;
  }
  return all;
}

std::vector<GroupTotals> JobLedger::totals(std::span<const std::string> groups) {
  Database& database = ledger_.database();
  Transaction transaction(database, Transaction::Kind::kRead);
  return totals_of(database, groups, read_job(database).value_or(JobRow{}).items);
}

std::optional<JobStanding> JobLedger::standing(std::span<const std::string> groups) {
  Database& database = ledger_.database();
  Transaction transaction(database, Transaction::Kind::kRead);
  const std::optional<JobRow> job = read_job(database);
  if (!job) return std::nullopt;
  return JobStanding{job->items.position_count, job->complete, totals_of(database, groups, job->items)};
}

std::uint64_t JobLedger::retries() {
  return static_cast<std::uint64_t>(ledger_.database().integer("SELECT count(*) FROM retries"));
}

bool JobLedger::mark_complete(std::uint64_t retries) {
  Transaction transaction(ledger_.database(), Transaction::Kind::kWrite);
  if (this->retries() != retries) return false;
  ledger_.database().run("UPDATE job SET complete = 1");
  transaction.commit();
  return true;
}

std::uint64_t JobLedger::id() { return read_job(ledger_.database()).value_or(JobRow{}).ledger_id; }

std::optional<std::uint64_t> ledger_id(const std::string& state_folder) {
  const auto job = read_job_of(state_folder);
  return job ? std::optional(job->ledger_id) : std::nullopt;
}

bool is_complete(const std::string& state_folder) {
  const auto job = read_job_of(state_folder);
  return job && job->complete;
}

}  // namespace tailrace
