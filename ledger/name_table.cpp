#include "ledger/name_table.hpp"

#include <algorithm>
#include <cerrno>

#include "ledger/ledger.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

constexpr std::uint64_t kChunkNames = 4096;

}  // namespace

void store_names(Database& database, std::uint64_t count,
                 const std::function<std::string(std::uint64_t)>& name_at) {
  database.run("DELETE FROM names");
  Statement insert = database.prepare("INSERT INTO names(first_position, names) VALUES(?, ?)");
  for (std::uint64_t first = 0; first < count; first += kChunkNames) {
    NameList chunk;
    for (std::uint64_t position = first; position < std::min(first + kChunkNames, count); ++position)
      chunk.add(name_at(position));
    insert.bind(first, Blob{chunk.text()}).run();
  }
}

std::string_view NameTable::at(std::uint64_t position) {
  if (!has_names_) return {};
  const std::uint64_t first = position / kChunkNames * kChunkNames;
  if (chunk_.size() == 0 || first != first_position_) load(first);
  if (position - first >= chunk_.size())
    throw LedgerError(EBADMSG, "the ledger " + in_quotes(database_.path()) + " has no name for position " +
                                   std::to_string(position) + "; remove the folder to begin anew");
  return chunk_[position - first];
}

void NameTable::load(std::uint64_t first_position) {
  Statement names = database_.prepare("SELECT names FROM names WHERE first_position = ?");
  chunk_ = names.bind(first_position).step() ? NameList(std::string(names.text(0))) : NameList();
  first_position_ = first_position;
}

}  // namespace tailrace
