#include "tests/profile/recorded_ranges.hpp"

#include <stdlib.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace tailrace::testing {
namespace {

using Json = nlohmann::json;

/// Matches begins and ends.
class Matcher {
 public:
  void take(const Json& record) {
    if (record.at("domain") != "tailrace") return;
    const std::string event = record.at("event");
    const std::int64_t thread = record.at("thread");
    std::vector<RecordedRange>& stack = stacks_[thread];
    if (event == "push") {
      stack.push_back(begin_of(record));
      stack.back().depth = stack.size() - 1;
    } else if (event == "pop") {
      if (stack.empty()) throw UnbalancedRanges("a pop without a push: " + record.dump());
      end(std::exchange(stack.back(), {}), record);
      stack.pop_back();
    } else if (event == "start") {
      started_[record.at("id")] = begin_of(record);
    } else {
      const auto range = started_.find(record.at("id"));
      if (range == started_.end()) throw UnbalancedRanges("an end without a start: " + record.dump());
      end(range->second, record);
      started_.erase(range);
    }
  }

  std::vector<RecordedRange> finish() && {
    for (const auto& [thread, stack] : stacks_)
      if (!stack.empty()) throw UnbalancedRanges(stack.back().name + " was not popped");
    if (!started_.empty()) throw UnbalancedRanges(started_.begin()->second.name + " was not ended");
    return std::move(whole_);
  }

 private:
  static RecordedRange begin_of(const Json& record) {
    RecordedRange range;
    range.name = record.at("name");
    range.argb = record.at("argb");
    range.batch = record.at("payload");
    range.begin_ns = record.at("time_ns");
    range.begin_thread = record.at("thread");
    return range;
  }

  void end(RecordedRange range, const Json& record) {
    range.end_ns = record.at("time_ns");
    range.end_thread = record.at("thread");
    whole_.push_back(std::move(range));
  }

  std::map<std::int64_t, std::vector<RecordedRange>> stacks_;
  std::map<std::uint64_t, RecordedRange> started_;
  std::vector<RecordedRange> whole_;
};

}  // namespace

void record_ranges_into(const std::filesystem::path& record) {
  setenv("NVTX_INJECTION64_PATH", TAILRACE_NVTX_RECORDER, 1);
  setenv("TAILRACE_NVTX_RECORD", record.c_str(), 1);
}

std::vector<RecordedRange> recorded_ranges(const std::filesystem::path& record) {
  Matcher matcher;
  std::ifstream lines(record);
  for (std::string line; std::getline(lines, line);) matcher.take(Json::parse(line));
  return std::move(matcher).finish();
}

}  // namespace tailrace::testing
