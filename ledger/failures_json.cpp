#include "ledger/failures_json.hpp"

#include <nlohmann/json.hpp>

namespace tailrace {

nlohmann::ordered_json to_json(const std::vector<Failure>& failures) {
  auto attempts = nlohmann::ordered_json::array();
  for (const Failure& failure : failures)
    attempts.push_back({{"attempt", failure.attempt}, {"pid", failure.pid}, {"what", failure.what}});
  return attempts;
}

}  // namespace tailrace
