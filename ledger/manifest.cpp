#include "ledger/manifest.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "files/atomic_file.hpp"
#include "ledger/database.hpp"
#include "ledger/files_column.hpp"
#include "ledger/group_table.hpp"
#include "ledger/item_record.hpp"
#include "ledger/item_rows.hpp"
#include "ledger/job_row.hpp"
#include "ledger/name_table.hpp"
#include "ledger/transaction.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "manifest.jsonl";
constexpr std::size_t kBufferBytes = 1 << 20;

/// The worse, the greater.
enum class Outcome { kDone, kSkipped, kSetAside, kMissing };
constexpr std::array kOutcomeNames{"done", "skipped", "set_aside", "missing"};

const char* name_of(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

Outcome outcome_of(ItemState state) {
  switch (state) {
    case ItemState::kDone:
      return Outcome::kDone;
    case ItemState::kSkipped:
      return Outcome::kSkipped;
    case ItemState::kSetAside:
      break;
  }
  return Outcome::kSetAside;
}

std::string hex(std::uint64_t checksum) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(checksum));
  return text.data();
}

/// Goes along a group's rows beside the list of items.
class GroupRows {
 public:
  GroupRows(Database& database, std::string group)
      : database_(database),
        name_(std::move(group)),
        rows_(database.prepare(
            "SELECT item, state, batch, row, files, bytes, checksum, attempts, reason FROM items"
            " WHERE group_id = ? ORDER BY item")) {
    rows_.bind(find_group(database, name_));
    there_ = rows_.step();
  }

  /// Items in ascending order. True: the group has a row for it, which the functions below read.
  bool find(std::uint64_t item) {
    while (there_ && rows_.count(0) < item) there_ = rows_.step();
    return there_ && rows_.count(0) == item;
  }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Outcome outcome() const { return outcome_of(item_state(rows_, 1, database_)); }
  [[nodiscard]] std::string reason() const { return std::string(rows_.text(8)); }
  [[nodiscard]] Json json() const {
    Json json{{"state", name_of(outcome())}, {"batch", rows_.count(2)}, {"row", rows_.count(3)}};
    if (!rows_.is_null(4)) json["files"] = from_files_column(rows_.text(4));
    json["bytes"] = rows_.count(5);
    if (!rows_.is_null(6)) json["checksum"] = hex(rows_.bits(6));
    json["attempts"] = rows_.count(7);
    return json;
  }

 private:
  Database& database_;
  std::string name_;
  Statement rows_;
  bool there_ = false;
};

Json line_of(std::uint64_t item, std::string_view name, std::vector<GroupRows>& groups) {
  Outcome worst = Outcome::kDone;
  std::string reason;
  Json by_group = Json::object();
  for (GroupRows& group : groups) {
    const bool found = group.find(item);
    const Outcome outcome = found ? group.outcome() : Outcome::kMissing;
    if (outcome > worst) {
      worst = outcome;
      reason = found ? group.reason() : std::string();
    }
    by_group[group.name()] = found ? group.json() : Json{{"state", name_of(outcome)}};
  }
  Json line{{"item", item}};
  if (!name.empty()) line["name"] = name;
  line["state"] = name_of(worst);
  if (!reason.empty()) line["reason"] = std::move(reason);
  line["groups"] = std::move(by_group);
  return line;
}

/// Few large writes.
class LineWriter {
 public:
  explicit LineWriter(TemporaryFile& file) : file_(file) {}

  void write(const Json& line) {
    text_ += line.dump(-1, ' ', false, Json::error_handler_t::replace);
    text_ += '\n';
    if (text_.size() >= kBufferBytes) flush();
  }
  void flush() {
    file_.append(std::as_bytes(std::span(text_)));
    text_.clear();
  }

 private:
  TemporaryFile& file_;
  std::string text_;
};

}  // namespace

void remove_manifest(const std::string& state_folder) noexcept {
  unlink((state_folder + "/" + kName).c_str());
}

void write_manifest(Ledger& ledger, const std::string& state_folder, std::span<const std::string> groups) {
  Database& database = ledger.database();
  OutputFolder folder(state_folder);
  AtomicFiles files(folder);
  LineWriter writer(files.create(kName));
  const Transaction transaction(database, Transaction::Kind::kRead);
  const ItemMap items = read_job(database).value_or(JobRow{}).items;
  NameTable names(database);
  std::vector<GroupRows> rows;
  for (const std::string& group : groups) rows.emplace_back(database, group);
  for (std::uint64_t position = 0; position < items.position_count; ++position)
    writer.write(line_of(items.item(position), names.at(position), rows));
  writer.flush();
  files.commit();
}

}  // namespace tailrace
