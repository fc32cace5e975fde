#include "ledger/network_file_system.hpp"

#include <linux/magic.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tailrace {
namespace {

struct FileSystem {
  std::uint32_t type;
  const char* name;
};

// Lustre and GFS2 are not in linux/magic.h: include/uapi/linux/lustre and include/uapi/linux/gfs2_ondisk.h.
constexpr std::array kShared{FileSystem{NFS_SUPER_MAGIC, "NFS"},   FileSystem{SMB_SUPER_MAGIC, "SMB"},
                             FileSystem{CIFS_SUPER_MAGIC, "CIFS"}, FileSystem{SMB2_SUPER_MAGIC, "SMB2"},
                             FileSystem{V9FS_MAGIC, "9p"},         FileSystem{CEPH_SUPER_MAGIC, "Ceph"},
                             FileSystem{AFS_SUPER_MAGIC, "AFS"},   FileSystem{AFS_FS_MAGIC, "AFS"},
                             FileSystem{CODA_SUPER_MAGIC, "Coda"}, FileSystem{OCFS2_SUPER_MAGIC, "OCFS2"},
                             FileSystem{0x0bd00bd0, "Lustre"},     FileSystem{0x01161970, "GFS2"}};

}  // namespace

const char* network_file_system(long type) noexcept {
  const auto* const found = std::find_if(kShared.begin(), kShared.end(), [type](const FileSystem& system) {
    return system.type == static_cast<std::uint32_t>(type);  // on some machines the field has a sign
  });
  return found == kShared.end() ? nullptr : found->name;
}

}  // namespace tailrace
