// A tool that NVTX loads into a program (NVTX_INJECTION64_PATH): it appends a line of JSON to
// $TAILRACE_NVTX_RECORD for each begin and end of a range. NVTX calls it once for each binary of a process
// that holds its headers, LibTorch's libraries among them. What belongs to the program is never freed: ranges
// may end as late as they like.
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using Json = nlohmann::json;

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// One write for each line: lines of threads and processes do not mix.
void append(Json record) {
  static const int fd =
      open(std::getenv("TAILRACE_NVTX_RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  record["time_ns"] = now_ns();
  record["thread"] = gettid();
  const std::string line = record.dump() + "\n";
  if (write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
}

const std::string& text_of(const void* handle) { return *static_cast<const std::string*>(handle); }

Json name_of(const nvtxEventAttributes_t& range) {
  if (range.messageType == NVTX_MESSAGE_TYPE_REGISTERED) return text_of(range.message.registered);
  if (range.messageType == NVTX_MESSAGE_TYPE_ASCII) return {{"unregistered", range.message.ascii}};
  return nullptr;
}

Json begin_of(const char* event, nvtxDomainHandle_t domain, const nvtxEventAttributes_t& range) {
  return {{"event", event},
          {"domain", domain == nullptr ? "" : text_of(domain)},
          {"name", name_of(range)},
          {"argb", range.colorType == NVTX_COLOR_ARGB ? Json(range.color) : Json()},
          {"payload",
           range.payloadType == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 ? Json(range.payload.ullValue) : Json()}};
}

nvtxDomainHandle_t NVTX_API create_domain(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new std::string(name));
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t /*domain*/, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new std::string(text));
}

int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range) {
  append(begin_of("push", domain, *range));
  return 0;
}

int NVTX_API pop(nvtxDomainHandle_t domain) {
  append({{"event", "pop"}, {"domain", domain == nullptr ? "" : text_of(domain)}});
  return 0;
}

nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range) {
  static std::atomic<nvtxRangeId_t> last_id{0};
  const nvtxRangeId_t id = ++last_id;
  Json record = begin_of("start", domain, *range);
  record["id"] = id;
  append(std::move(record));
  return id;
}

void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  append({{"event", "end"}, {"domain", domain == nullptr ? "" : text_of(domain)}, {"id", id}});
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
  const auto set = [&](unsigned index, auto* function) {
    if (index < size) *table[index] = reinterpret_cast<NvtxFunctionPointer>(function);
  };
  set(NVTX_CBID_CORE2_DomainCreateA, create_domain);
  set(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  set(NVTX_CBID_CORE2_DomainRangePushEx, push);
  set(NVTX_CBID_CORE2_DomainRangePop, pop);
  set(NVTX_CBID_CORE2_DomainRangeStartEx, start);
  set(NVTX_CBID_CORE2_DomainRangeEnd, end);
  return 1;
}
