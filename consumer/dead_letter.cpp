#include "consumer/dead_letter.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "files/atomic_file.hpp"
#include "files/output_folder.hpp"
#include "ledger/failures_json.hpp"
#include "ledger/incidents.hpp"
#include "os/failpoint.hpp"
#include "shm/descriptor.hpp"

namespace tailrace {
namespace {

std::string folder_of(const Lease& lease) {
  return "batch-" + std::to_string(value_of(read_batch_number(lease.bytes())));
}

}  // namespace

DeadLetters::DeadLetters(const std::string& state_folder, std::string group)
    : state_(state_folder), path_(state_folder + "/quarantine/" + group), group_(std::move(group)) {}

void DeadLetters::note_failure(BatchNumber batch, std::uint32_t attempt, const std::string& what) const {
  try {
    tailrace::note_failure(state_, {group_, value_of(batch), attempt, getpid(), what});
  } catch (const LedgerError& error) {
    spdlog::warn("{}", error.what());
  }
}

nlohmann::ordered_json DeadLetters::describe(const Lease& lease, const std::string& reason) const {
  const auto number = value_of(read_batch_number(lease.bytes()));
  return {{"group", group_},
          {"batch", number},
          {"seq", value_of(lease.seq())},
          {"slot", index_of(lease.slot())},
          {"failed_attempts", lease.attempts() - 1},
          {"reason", reason},
          {"attempts", to_json(failures_of(state_, group_, number))}};
}

DeadLetter DeadLetters::write(const Lease& lease, const std::string& name,
                              const nlohmann::ordered_json& description, bool with_bytes) const {
  // Beyond the batch the slot may have no memory yet: reading it there would allocate some.
  const auto bytes = lease.bytes().first(read_used_bytes(lease.bytes()));
  const std::string folder = folder_of(lease);
  const std::string text = description.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  OutputFolder root(path_);
  AtomicFiles files(root);
  files.create(folder + "/" + name).append(std::as_bytes(std::span(text)));
  if (with_bytes) files.create(folder + "/slot.bin").append(bytes);
  failpoint("mid_quarantine");
  files.commit();
  DeadLetter letter{path_ + "/" + folder, {files.path_of(folder + "/" + name)}};
  if (has_bytes(folder)) letter.files.push_back(files.path_of(folder + "/slot.bin"));
  return letter;
}

bool DeadLetters::has_bytes(const std::string& folder) const {
  return std::filesystem::exists(path_ + "/" + folder + "/slot.bin");
}

DeadLetter DeadLetters::save(const Lease& lease, const std::string& reason) const {
  return write(lease, "reason.json", describe(lease, reason), !lease.is_reason_only());
}

DeadLetter DeadLetters::save_item(const Lease& lease, const Row& row, const std::string& reason) const {
  auto description = describe(lease, reason);
  description["item"] = row.item;
  description["name"] = row.name;
  return write(lease, "item-" + std::to_string(row.item) + ".json", description,
               !has_bytes(folder_of(lease)));
}

}  // namespace tailrace
