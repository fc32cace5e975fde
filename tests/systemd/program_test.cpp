#include "systemd/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>

namespace tailrace {
namespace {

TEST(Program, IsNotEndedByAReloadThatComesTooEarly) {
  const auto body = [] {
    raise(SIGHUP);
    return 7;
  };
  EXPECT_EXIT(_exit(run_program("program", body, [](const std::exception&) { return std::nullopt; })),
              testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace tailrace
