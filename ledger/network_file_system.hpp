#pragma once

namespace tailrace {

/// Name of a file system that several machines share ("NFS"), by `f_type` of statfs(2); nullptr = a local
/// one, as far as known. SQLite's WAL needs memory that all its users share, so their machine must be one.
[[nodiscard]] const char* network_file_system(long type) noexcept;

}  // namespace tailrace
