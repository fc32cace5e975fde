#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ledger/incidents.hpp"

namespace tailrace {

/// Failed attempts as people find them in files and in `--json`: [{"attempt", "pid", "what"}, …].
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<Failure>& failures);

}  // namespace tailrace
