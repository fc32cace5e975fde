#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ctl/exporter/health.hpp"
#include "ctl/exporter/http_server.hpp"

namespace tailrace {

enum class HealthQuestion { kLive, kReady };

/// 200 where nothing is wrong with any of the pipelines, else 503; a line for each, or JSON.
HttpResponse answer_health(HealthQuestion question,
                           const std::vector<std::pair<std::string, Health>>& pipelines, bool as_json);

}  // namespace tailrace
