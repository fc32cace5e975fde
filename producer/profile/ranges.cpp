#include "producer/profile/ranges.hpp"

#ifdef TAILRACE_WITH_NVTX
#include <nvtx3/nvToolsExt.h>

#include <array>
#include <cstddef>
#endif

namespace tailrace {

#ifdef TAILRACE_WITH_NVTX
namespace {

struct Look {
  const char* name;
  std::uint32_t argb;
};

// In the order of RangeKind.
constexpr std::array<Look, 5> kLooks{{
    {"batch", 0xFF0000FF},      // blue
    {"get batch", 0xFFFF0000},  // red
    {"compute", 0xFF008000},    // green
    {"copy", 0xFFFFFF00},       // yellow
    {"queue", 0xFF00FFFF},      // cyan
}};
static_assert(static_cast<std::size_t>(RangeKind::kQueue) + 1 == kLooks.size());

struct Domain {
  nvtxDomainHandle_t handle;
  std::array<nvtxStringHandle_t, kLooks.size()> names;
};

Domain make_domain() {
  Domain domain{nvtxDomainCreateA("tailrace"), {}};
  for (std::size_t i = 0; i < kLooks.size(); ++i)
    domain.names[i] = nvtxDomainRegisterStringA(domain.handle, kLooks[i].name);
  return domain;
}

// Never destroyed: the tool outlives main(), and a range of another thread may end after it.
const Domain& domain() {
  static const Domain domain = make_domain();
  return domain;
}

nvtxEventAttributes_t attributes_of(RangeKind kind, BatchNumber batch) {
  const auto index = static_cast<std::size_t>(kind);
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = kLooks[index].argb;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = value_of(batch);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = domain().names[index];
  return attributes;
}

}  // namespace

ScopedRange::ScopedRange(RangeKind kind, BatchNumber batch) noexcept {
  const nvtxEventAttributes_t attributes = attributes_of(kind, batch);
  nvtxDomainRangePushEx(domain().handle, &attributes);
}

ScopedRange::~ScopedRange() { nvtxDomainRangePop(domain().handle); }

BatchRange::BatchRange(BatchNumber batch) noexcept {
  const nvtxEventAttributes_t attributes = attributes_of(RangeKind::kBatch, batch);
  id_ = nvtxDomainRangeStartEx(domain().handle, &attributes);
}

void BatchRange::end() noexcept {
  if (id_ != kNone) nvtxDomainRangeEnd(domain().handle, std::exchange(id_, kNone));
}
#else
ScopedRange::ScopedRange(RangeKind /*kind*/, BatchNumber /*batch*/) noexcept {}
ScopedRange::~ScopedRange() = default;
BatchRange::BatchRange(BatchNumber /*batch*/) noexcept {}
void BatchRange::end() noexcept {}
#endif

}  // namespace tailrace
