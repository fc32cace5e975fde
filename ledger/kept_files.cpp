#include "ledger/kept_files.hpp"

#include <string>
#include <unordered_map>
#include <vector>

#include "ledger/files_column.hpp"
#include "ledger/group_table.hpp"
#include "ledger/item_record.hpp"
#include "ledger/item_rows.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

/// Output name that a file holds → position of its item.
using Holders = std::unordered_map<std::string, std::uint64_t>;

/// As the column has it: bytes that are no UTF-8 are replaced.
std::string stored_form(const std::string& name) {
  return from_files_column(to_files_column({name}).value_or("")).front();
}

/// Of all groups, now and before: any of them may have written into the folder of this one.
Holders holders_of(Database& database, const GroupSink& sink, const ItemMap& items) {
  Holders holders;
  Statement row = database.prepare("SELECT item, files FROM items WHERE state = ? AND files IS NOT NULL");
  row.bind(static_cast<int>(ItemState::kDone));
  while (row.step())
    if (const auto position = position_of(row.count(0), items))
      for (std::string& name : sink.output_names_of(from_files_column(row.text(1))))
        holders.emplace(std::move(name), *position);
  return holders;
}

std::vector<bool> through_with(Database& database, const std::string& group, const ItemMap& items) {
  std::vector<bool> through(items.position_count);
  if (const auto id = find_group(database, group))
    for_each_row(database, *id, items, [&](std::uint64_t position, ItemState) { through[position] = true; });
  return through;
}

[[noreturn]] void refuse(const Database& database, const std::string& group, const std::string& output_name,
                         const std::string& other, const std::string& finished) {
  throw JobChanged("group " + group + ": the result of " + in_quotes(other) + " would get the name " +
                   in_quotes(output_name) + ", which has that of " + in_quotes(finished) + " (the ledger " +
                   in_quotes(database.path()) +
                   " has it as finished); rename one of the two, give the sink another folder, or delete the "
                   "state folder to make all anew");
}

}  // namespace

void refuse_to_replace_files(Database& database, const JobIdentity& job, const JobLedger::NameAt& name_at) {
  if (!name_at || !job.output_name_at) return;
  for (const GroupSink& sink : job.sinks) {
    const Holders holders = holders_of(database, sink, job.items);
    if (holders.empty()) continue;
    const std::vector<bool> through = through_with(database, sink.group, job.items);
    for (std::uint64_t position = 0; position < through.size(); ++position) {
      if (through[position]) continue;
      const std::string name = job.output_name_at(position);
      const auto holder = holders.find(stored_form(name));
      if (holder != holders.end() && holder->second != position)
        refuse(database, sink.group, name, name_at(position), name_at(holder->second));
    }
  }
}

}  // namespace tailrace
