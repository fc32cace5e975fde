#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

// For builds without images.
TEST(MakeSink, SaysThatPngMaskNeedsLibpng) {
  SinkConfig config;
  config.kind = SinkKind::kPngMask;
  EXPECT_THAT(testing::message_of([&] { make_sink(config); }), ::testing::HasSubstr("libpng"));
}

}  // namespace
}  // namespace tailrace
