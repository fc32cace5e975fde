#pragma once

#include <string>
#include <utility>

#include "ctl/exporter/busy_meter.hpp"
#include "ctl/exporter/http_server.hpp"
#include "ctl/ring_report.hpp"

namespace tailrace {

/// Answers what is asked over HTTP from the control pages of all rings of this machine, as they are at that
/// moment. Any thread.
class Exporter {
 public:
  /// `version`: of the program, for build_info.
  explicit Exporter(std::string version) : version_(std::move(version)) {}

  /// /metrics, /livez and /readyz, for all pipelines or with /NAME or ?pipeline=NAME for one. Throws where
  /// the rings cannot be listed.
  [[nodiscard]] HttpResponse answer(const HttpRequest& request) const;
  /// Notes how far each ring is; to be called about once a second.
  void watch();

 private:
  [[nodiscard]] HttpResponse metrics() const;

  std::string version_;
  BusyMeter meter_;
};

}  // namespace tailrace
