#include "systemd/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "config/exit_codes.hpp"
#include "os/io_error.hpp"

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

TEST(ServiceExitCode, IsThatOfTheErrorItselfElseOfInputAndOutputForAFile) {
  const auto code_of = [](int error) {
    return service_exit_code(FileError(error, std::generic_category()),
                             [](const std::exception&) { return std::nullopt; });
  };
  EXPECT_EQ(code_of(EACCES), kExitPermission);
  EXPECT_EQ(code_of(ENOMEM), kExitTryAgain);
  EXPECT_EQ(code_of(EXDEV), kExitIo);
  EXPECT_EQ(code_of(ENOTDIR), kExitIo);
  EXPECT_EQ(service_exit_code(std::system_error(EXDEV, std::generic_category()),
                              [](const std::exception&) { return std::nullopt; }),
            kExitUnexpected);
}

}  // namespace
}  // namespace tailrace
