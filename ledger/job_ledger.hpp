#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ledger/item_record.hpp"
#include "ledger/ledger.hpp"
#include "shm/item_map.hpp"

namespace tailrace {

/// What makes the results of a group.
struct GroupSink {
  std::string group;
  std::string text;  // for people; differs where results may
  /// Of an item's files, as the ledger has them: which output names they hold in this sink's folder.
  std::function<std::vector<std::string>(const std::vector<std::string>& files)> output_names_of;
};

/// What a ledger belongs to.
struct JobIdentity {
  std::string pipeline;
  std::uint64_t list_digest = 0;   // of the source's item list, as Source::digest()
  std::uint64_t model_digest = 0;  // of what decides about the results beside the list
  ItemMap items;
  bool fixed_batches = false;  // files hold whole batches: which items make up a batch must not change
  std::vector<GroupSink> sinks{};
  std::function<std::string(std::uint64_t position)> output_name_at{};  // empty: items have none
};

/// The ledger belongs to another pipeline or another item list. The message says what changed (how many items
/// came, went and moved, the first name of each) and how to accept it.
class JobChanged : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a group stands at the end of a job.
struct GroupTotals {
  std::string group;
  std::uint64_t done = 0;
  std::uint64_t skipped = 0;
  std::uint64_t set_aside = 0;
  std::uint64_t missing = 0;                   // items of the job without a row
  std::optional<std::uint64_t> first_missing;  // its index in the whole list
};

/// How a job stands, as of one moment.
struct JobStanding {
  std::uint64_t items = 0;
  bool complete = false;
  std::vector<GroupTotals> groups;
};

/// What the producer reads and writes in the ledger. One thread. All throw LedgerError.
class JobLedger {
 public:
  /// Source-relative name of the item at a position of the list (ItemMap); called for every position, in
  /// order, and only where the list has to be stored or compared. Empty: the items have no names, and another
  /// list is always refused.
  using NameAt = std::function<std::string(std::uint64_t position)>;

  explicit JobLedger(Ledger ledger) : ledger_(std::move(ledger)) {}

  [[nodiscard]] Ledger& ledger() noexcept { return ledger_; }

  /// As ledger_id(). Precondition: a job has begun.
  [[nodiscard]] std::uint64_t id();

  /// Stores the identity of a new job, or compares it with the one that is there. The first pipeline to use a
  /// ledger owns it. Another list: JobChanged, or with `accept` the rows of items whose names are still in
  /// the list move to their new indices, and those of names that are gone are dropped; JobChanged where a
  /// finished item's file would then be replaced by another item's. The job counts as incomplete from here
  /// on. Returns warnings for people: where rows were made with another model_digest, or by another sink.
  std::vector<std::string> begin(const JobIdentity& job, const NameAt& name_at, bool accept);

  /// For each position of the list, whether every one of `groups` is through with its item.
  [[nodiscard]] std::vector<bool> finished(std::span<const std::string> groups);

  /// Counts the rows of the job's items.
  [[nodiscard]] std::vector<GroupTotals> totals(std::span<const std::string> groups);

  /// The same, and of the job as a whole. Empty: no job has begun.
  [[nodiscard]] std::optional<JobStanding> standing(std::span<const std::string> groups);

  /// How often somebody has had items done again so far (forget_set_aside(), forget_skipped()).
  [[nodiscard]] std::uint64_t retries();

  /// Every group has everything, as long as there have been `retries` retries. False: there was another one
  /// since, and nothing is marked. Consumers that come late need not wait for a ring.
  [[nodiscard]] bool mark_complete(std::uint64_t retries);

 private:
  Ledger ledger_;
};

/// What a ring and a ledger that belong together share: random, never 0, another one for another list of
/// items. Empty: there is no ledger, or no job in it. Throws LedgerError.
std::optional<std::uint64_t> ledger_id(const std::string& state_folder);

/// The ledger says that its job is complete. False where there is no ledger. Throws LedgerError.
bool is_complete(const std::string& state_folder);

}  // namespace tailrace
