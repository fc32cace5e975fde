#include "config/exit_code_of.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "config/config_error.hpp"

namespace tailrace {
namespace {

ExitCode code_of_errno(int error) { return exit_code_of(std::system_error(error, std::generic_category())); }

TEST(ExitCodeOf, TellsTheKindsOfErrorsApart) {
  EXPECT_EQ(exit_code_of(ConfigError({})), kExitConfig);
  EXPECT_EQ(exit_code_of(std::bad_alloc()), kExitTryAgain);
  EXPECT_EQ(exit_code_of(std::runtime_error("x")), kExitUnexpected);
  EXPECT_EQ(code_of_errno(EACCES), kExitPermission);
  EXPECT_EQ(code_of_errno(ENOSPC), kExitIo);
  EXPECT_EQ(code_of_errno(EBADMSG), kExitDamagedRing) << "a ledger's, too: services would try it for ever";
  EXPECT_EQ(code_of_errno(ENOMEM), kExitTryAgain);
  EXPECT_EQ(code_of_errno(EINVAL), kExitUnexpected);
}

}  // namespace
}  // namespace tailrace
