#include "ledger/files_column.hpp"

#include <cerrno>
#include <nlohmann/json.hpp>

#include "ledger/ledger.hpp"

namespace tailrace {

using Json = nlohmann::json;

std::optional<std::string> to_files_column(const std::vector<std::string>& files) {
  if (files.empty()) return std::nullopt;
  return Json(files).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> from_files_column(std::string_view text) {
  if (text.empty()) return {};
  try {
    return Json::parse(text).get<std::vector<std::string>>();
  } catch (const Json::exception&) {
    throw LedgerError(EBADMSG, "the ledger names files in a way that is no JSON array of texts");
  }
}

}  // namespace tailrace
