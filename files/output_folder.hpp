#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "os/unique_fd.hpp"

namespace tailrace {

/// An open folder; `path` is for messages.
struct Folder {
  UniqueFd fd;
  std::string path;
};

/// The folder that a sink writes into, with its sub-folders. The folder itself is the user's choice and may
/// be reached through symbolic links; below it none is followed. Used by one thread. Errors: FileError.
class OutputFolder {
 public:
  /// Creates the folder with its parents and proves that files can be written there, as soon as there is
  /// room. Temporary files of dead processes are removed, here and in each sub-folder when it is first
  /// opened.
  explicit OutputFolder(const std::string& path);

  /// Opens a sub-folder ("a/b"; "" = the folder itself), creating what is missing, durably.
  std::shared_ptr<const Folder> open(std::string_view relative);

  [[nodiscard]] const std::string& path() const { return root_->path; }

 private:
  std::shared_ptr<const Folder> open_child(const Folder& parent, const std::string& name, bool first_time);

  std::shared_ptr<const Folder> root_;
  std::unordered_set<std::string> seen_;  // sub-folders that were made durable and cleaned
};

}  // namespace tailrace
