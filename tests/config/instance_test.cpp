#include "config/instance.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tailrace {
namespace {

TEST(Instance, HasPipelineGroupAndNumber) {
  const auto instance = parse_instance("seg:masks:12");
  ASSERT_TRUE(instance);
  EXPECT_EQ(instance->pipeline, "seg");
  EXPECT_EQ(instance->group, "masks");
  EXPECT_EQ(instance->number, 12u);
  EXPECT_EQ(find_config(*instance), "/etc/tailrace/seg.toml");
}

TEST(Instance, RefusesEveryOtherForm) {
  for (const char* text : {"", ":", "::", "seg", "seg:masks", "seg:masks:", "seg::1", ":masks:1",
                           "seg:masks:1:2", "../seg:masks:1", "seg:masks:-1", "seg:masks:+1", "seg:masks: 1",
                           "seg:masks:1x", "seg:masks:4294967296", "a/b:masks:1"})
    EXPECT_FALSE(parse_instance(text)) << text;
}

}  // namespace
}  // namespace tailrace
