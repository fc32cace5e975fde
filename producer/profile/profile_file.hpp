#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "os/unique_fd.hpp"

namespace tailrace {

/// A JSON file that somebody else's code writes by name: its final name only ever holds a complete file. Used
/// by one thread.
class ProfileFile {
 public:
  /// `key`: of the configuration, for messages. Checks what can be checked without writing, and keeps the
  /// folder open. Throws std::invalid_argument for a path that no file can have (missing folder, a folder
  /// itself, name too long), std::system_error for a folder that may not be written to.
  ProfileFile(std::filesystem::path path, std::string key);

  /// `fill` gets the name of a file to make and write, which has no odd characters whatever the path is. A
  /// file of the final name is replaced. Throws std::system_error when what is there then is no whole JSON
  /// document: the writers do not say so themselves.
  void write(const std::function<void(const std::string& name)>& fill) const;

 private:
  std::filesystem::path path_;
  std::string key_;
  UniqueFd folder_;
};

}  // namespace tailrace
