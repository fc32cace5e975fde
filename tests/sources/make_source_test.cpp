#include "producer/sources/make_source.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "tests/sources/npy_text.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace {
namespace {

TEST(MakeSource, MakesWhatTheConfigurationNames) {
  SourceConfig config;
  EXPECT_EQ(make_source(config)->spec().item_shape, (std::vector<std::int64_t>{3, 512, 512}));
  const TempFolder folder;
  config.kind = SourceKind::kArrays;
  config.path = folder.write("x.npy", npy_file(1, npy_header_text("|u1", "(1, 2)"), "ab")).string();
  EXPECT_EQ(make_source(config)->spec().item_shape, (std::vector<std::int64_t>{2}));
}

#ifndef TAILRACE_WITH_IMAGES
TEST(MakeSource, SaysThatThisBuildHasNoImages) {
  SourceConfig config;
  config.kind = SourceKind::kImages;
  EXPECT_THAT([&] { make_source(config); },
              testing::ThrowsMessage<std::invalid_argument>(testing::HasSubstr("TAILRACE_WITH_IMAGES=ON")));
}
#endif

}  // namespace
}  // namespace tailrace
