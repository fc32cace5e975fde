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
  EXPECT_EQ(find_config(instance->pipeline), "/etc/tailrace/seg.toml");
}

TEST(Instance, RefusesEveryOtherForm) {
  for (const char* text : {"", ":", "::", "seg", "seg:masks", "seg:masks:", "seg::1", ":masks:1",
                           "seg:masks:1:2", "../seg:masks:1", "seg:masks:-1", "seg:masks:+1", "seg:masks: 1",
                           "seg:masks:1x", "seg:masks:4294967296", "a/b:masks:1"})
    EXPECT_FALSE(parse_instance(text)) << text;
}

TEST(Instance, KeepsItsStateWhereServicesDo) {
  EXPECT_EQ(default_state("/etc/tailrace", "seg"), "/var/lib/tailrace/seg");
  EXPECT_EQ(default_state("/home/me", "seg"), "/home/me/.tailrace/seg");
  EXPECT_EQ(default_state("/etc/tailrace/old", "seg"), "/etc/tailrace/old/.tailrace/seg");
}

TEST(Instance, RefusesTheNameOfAnotherPipelineWithBothAndThePlace) {
  LoadedConfig loaded;
  loaded.config.pipeline.name = "seg";
  loaded.values.push_back(
      {"pipeline.name", "\"seg\"", {Origin::Layer::kFile, "/etc/tailrace/x.toml", {2, 8}}});
  EXPECT_NO_THROW(check_pipeline_name(loaded, "seg"));
  try {
    check_pipeline_name(loaded, "x");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what())
                  .rfind("/etc/tailrace/x.toml:2:8: pipeline.name = \"seg\": must be \"x\"", 0),
              0U)
        << error.what();
  }
}

}  // namespace
}  // namespace tailrace
