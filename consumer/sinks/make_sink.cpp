#include "consumer/sinks/make_sink.hpp"

#include <csignal>
#include <stdexcept>

#include "consumer/sinks/checksum_sink.hpp"
#include "consumer/sinks/exec_sink.hpp"
#include "consumer/sinks/npy_sink.hpp"
#include "consumer/sinks/null_sink.hpp"
#ifdef TAILRACE_WITH_IMAGES
#include "consumer/sinks/png_mask_sink.hpp"
#endif

namespace tailrace {
namespace {

std::unique_ptr<Sink> make_png_mask([[maybe_unused]] const SinkConfig& config,
                                    [[maybe_unused]] ImageSize model_input) {
#ifdef TAILRACE_WITH_IMAGES
  std::signal(SIGXFSZ, SIG_IGN);
  return std::make_unique<PngMaskSink>(config, model_input);
#else
  throw std::runtime_error(
      "the sink png_mask needs libpng, which this build lacks: build with -DTAILRACE_WITH_IMAGES=ON, or "
      "choose the "
      "sink npy");
#endif
}

}  // namespace

ImageSize model_input_size(const SourceConfig& source) {
  if (source.kind != SourceKind::kImages) return {};
  return {static_cast<std::int32_t>(source.height), static_cast<std::int32_t>(source.width)};
}

std::unique_ptr<Sink> make_sink(const SinkConfig& config, ImageSize model_input) {
  switch (config.kind) {
    case SinkKind::kPngMask:
      return make_png_mask(config, model_input);
    case SinkKind::kNpy:
      std::signal(SIGXFSZ, SIG_IGN);
      return std::make_unique<NpySink>(config);
    case SinkKind::kNull:
      return std::make_unique<NullSink>(config);
    case SinkKind::kChecksum:
      return std::make_unique<ChecksumSink>(config);
    case SinkKind::kExec:
      std::signal(SIGPIPE, SIG_IGN);
      return std::make_unique<ExecSink>(config);
  }
  throw std::logic_error("a sink kind without a sink");
}

}  // namespace tailrace
