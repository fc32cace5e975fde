#include "producer/sources/make_source.hpp"

#include <stdexcept>

#include "producer/sources/array_source.hpp"
#include "producer/sources/synthetic_source.hpp"
#ifdef TAILRACE_WITH_IMAGES
#include "producer/sources/image_source.hpp"
#endif

namespace tailrace {
namespace {

std::unique_ptr<Source> make_image_source([[maybe_unused]] const SourceConfig& config) {
#ifdef TAILRACE_WITH_IMAGES
  return std::make_unique<ImageSource>(config);
#else
  throw std::invalid_argument(
      "source.kind = \"images\" needs libvips, and this program was built without it: build with "
      "-DTAILRACE_WITH_IMAGES=ON, or use \"arrays\" or \"synthetic\"");
#endif
}

}  // namespace

std::unique_ptr<Source> make_source(const SourceConfig& config) {
  switch (config.kind) {
    case SourceKind::kImages:
      return make_image_source(config);
    case SourceKind::kArrays:
      return std::make_unique<ArraySource>(config);
    case SourceKind::kSynthetic:
      return std::make_unique<SyntheticSource>(config);
  }
  throw std::invalid_argument("source.kind: no such kind");
}

}  // namespace tailrace
