#include "ctl/ring_looks.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "ctl/ring_list.hpp"

namespace tailrace {

std::vector<RingReport> look_at_rings(const std::vector<std::string>& names) {
  std::vector<RingReport> rings;
  for (const std::string& name : names.empty() ? list_rings() : names) {
    RingReport ring = report_on(RingFiles(name, RingFiles::kControlDirectory), name);
    if (ring.attach != AttachState::kAbsent) rings.push_back(std::move(ring));
  }
  return rings;
}

std::vector<RingLook> watch_rings(const std::vector<std::string>& names, std::chrono::nanoseconds interval) {
  const std::vector<RingReport> before = look_at_rings(names);
  if (interval.count() == 0 || before.empty()) return compare({}, before);
  std::this_thread::sleep_for(interval);
  return compare(before, look_at_rings(names));
}

std::vector<RingLook> compare(const std::vector<RingReport>& before, std::vector<RingReport> now) {
  std::vector<RingLook> looks;
  for (RingReport& ring : now) {
    const auto same = std::find_if(before.begin(), before.end(),
                                   [&](const RingReport& earlier) { return earlier.name == ring.name; });
    auto rates = same == before.end() ? std::nullopt : rates_between(*same, ring);
    looks.push_back({std::move(ring), std::move(rates)});
  }
  return looks;
}

}  // namespace tailrace
