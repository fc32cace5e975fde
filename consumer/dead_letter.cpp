#include "consumer/dead_letter.hpp"

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "consumer/sinks/atomic_file.hpp"
#include "shm/descriptor.hpp"

namespace tailrace {

DeadLetters::DeadLetters(const std::string& state_folder, std::string group)
    : path_(state_folder + "/quarantine/" + group), group_(std::move(group)) {}

std::string DeadLetters::save(const Lease& lease) const {
  // Beyond the batch the slot may have no memory yet: reading it there would allocate some.
  const auto bytes = lease.bytes().first(read_used_bytes(lease.bytes()));
  const auto number = value_of(read_batch_number(lease.bytes()));
  const std::string folder = "batch-" + std::to_string(number);
  const nlohmann::ordered_json reason{
      {"group", group_},
      {"batch", number},
      {"seq", value_of(lease.seq())},
      {"slot", index_of(lease.slot())},
      {"failed_attempts", lease.attempts() - 1},
      {"reason", "its consumers died or failed with it"},
      {"slot_bytes", lease.is_reason_only() ? 0 : bytes.size()},
  };
  OutputFolder root(path_);
  AtomicFiles files(root);
  const std::string text = reason.dump(2) + "\n";
  files.create(folder + "/reason.json").append(std::as_bytes(std::span(text)));
  if (!lease.is_reason_only()) files.create(folder + "/slot.bin").append(bytes);
  files.commit();
  return path_ + "/" + folder;
}

}  // namespace tailrace
