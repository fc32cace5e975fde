#include "ledger/network_file_system.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>

namespace tailrace {
namespace {

TEST(NetworkFileSystem, IsKnownByItsNumber) {
  EXPECT_STREQ(network_file_system(NFS_SUPER_MAGIC), "NFS");
  EXPECT_STREQ(network_file_system(0x0bd00bd0), "Lustre");
}

TEST(NetworkFileSystem, IsKnownWhereTheNumberHasASign) {
  EXPECT_STREQ(network_file_system(static_cast<int>(CIFS_SUPER_MAGIC)), "CIFS");
}

TEST(NetworkFileSystem, IsNoLocalOne) {
  for (const long type : {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC})
    EXPECT_EQ(network_file_system(type), nullptr);
}

}  // namespace
}  // namespace tailrace
