#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "files/output_folder.hpp"

namespace tailrace {

/// A file under a temporary name (".tailrace-PID-COUNTER.tmp") until `rename_to` gives it its final one; the
/// destructor removes what has none. While it lives its owner holds an flock on it, which proves that the
/// owner lives: a pid alone proves nothing. Errors: FileError naming `purpose`.
class TemporaryFile {
 public:
  /// `purpose`: the final path, for messages; empty = the temporary path.
  explicit TemporaryFile(std::shared_ptr<const Folder> folder, std::string purpose = {});
  TemporaryFile(TemporaryFile&&) noexcept = default;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  void append(std::span<const std::byte> bytes);
  void start_writeback() noexcept;  // lets the device begin before `sync` waits for it
  void sync();
  /// Replaces what has that name, without following a symbolic link. Not durable before the folder is synced.
  void rename_to(const std::string& leaf);

  [[nodiscard]] const Folder& folder() const { return *folder_; }

 private:
  [[noreturn]] void fail(int error, const char* action) const;

  std::shared_ptr<const Folder> folder_;
  std::string name_;  // empty once renamed
  std::string purpose_;
  UniqueFd fd_;
};

/// Removes the temporary files in `folder` that no living process owns. What cannot be removed stays.
void remove_dead_temporary_files(const Folder& folder);

}  // namespace tailrace
