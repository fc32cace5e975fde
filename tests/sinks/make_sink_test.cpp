#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

// For builds without libvips.
TEST(MakeSink, SaysThatPngMaskNeedsLibvips) {
  SinkConfig config;
  config.kind = SinkKind::kPngMask;
  EXPECT_THAT(testing::message_of([&] { make_sink(config); }), ::testing::HasSubstr("libvips"));
}

}  // namespace
}  // namespace tailrace
