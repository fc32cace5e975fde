#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "files/output_folder.hpp"
#include "files/temporary_file.hpp"

namespace tailrace {

/// The output files of one batch. They are written under temporary names and get their final ones in
/// `commit`, whole and durable: all are synced, then renamed, then each folder is synced once. What was not
/// committed is removed by the destructor. Used by one thread; errors: FileError.
class AtomicFiles {
 public:
  explicit AtomicFiles(OutputFolder& root) : root_(root) {}
  AtomicFiles(const AtomicFiles&) = delete;
  AtomicFiles& operator=(const AtomicFiles&) = delete;

  /// `name`: relative to the output folder, checked by output_file_name(). The reference holds until the next
  /// `create` or `commit`. Many files are committed in groups, so that few descriptors are open.
  TemporaryFile& create(std::string_view name);
  void commit();

  /// Final path of `name`.
  [[nodiscard]] std::string path_of(std::string_view name) const;

 private:
  struct Pending {
    TemporaryFile file;
    std::string leaf;
  };

  OutputFolder& root_;
  std::map<std::string, std::shared_ptr<const Folder>, std::less<>> folders_;
  std::deque<Pending> pending_;
};

}  // namespace tailrace
