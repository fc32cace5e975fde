#include "ledger/job_row.hpp"

#include <cerrno>
#include <limits>

#include "ledger/ledger.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

/// A stored number that has to be at least `least` and fit.
std::uint32_t small_number(const Statement& row, int column, std::uint32_t least, const Database& database) {
  const std::int64_t value = row.integer(column);
  if (value < least || value > std::numeric_limits<std::uint32_t>::max())
    throw LedgerError(EBADMSG, "the ledger " + in_quotes(database.path()) + " has an impossible job (" +
                                   std::to_string(value) + "); remove the folder to begin anew");
  return static_cast<std::uint32_t>(value);
}

}  // namespace

std::optional<JobRow> read_job(Database& database) {
  Statement row = database.prepare(
      "SELECT pipeline, list_digest, model_digest, item_count, batch_size, shard_index, shard_count, "
      "complete,"
      " fixed_batches, ledger_id"
      " FROM job");
  if (!row.step()) return std::nullopt;
  JobRow job;
  job.pipeline = row.text(0);
  job.list_digest = row.bits(1);
  if (!row.is_null(2)) job.model_digest = row.bits(2);
  job.items = {row.count(3), small_number(row, 4, 1, database), small_number(row, 5, 0, database),
               small_number(row, 6, 1, database)};
  job.complete = row.integer(7) != 0;
  job.fixed_batches = row.integer(8) != 0;
  job.ledger_id = row.bits(9);
  return job;
}

void write_job(Database& database, const JobRow& job) {
  const auto model_digest = job.model_digest ? std::optional(Bits{*job.model_digest}) : std::nullopt;
  database
      .prepare(
          "INSERT OR REPLACE INTO job(id, pipeline, list_digest, model_digest, item_count, batch_size,"
          " shard_index, shard_count, complete, fixed_batches, ledger_id)"
          " VALUES(1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
      .bind(job.pipeline, Bits{job.list_digest}, model_digest, job.items.position_count, job.items.batch_size,
            job.items.shard_index, job.items.shard_count, job.complete, job.fixed_batches,
            Bits{job.ledger_id})
      .run();
}

}  // namespace tailrace
