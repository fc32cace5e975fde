#pragma once

#include <filesystem>
#include <string>

namespace tailrace::testing {

/// A folder that looks like the root of a machine; goes away with everything in it.
class MadeTree {
 public:
  MadeTree();
  MadeTree(const MadeTree&) = delete;
  MadeTree& operator=(const MadeTree&) = delete;
  ~MadeTree();

  void add(const std::string& path, const std::string& content) const;
  [[nodiscard]] const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace tailrace::testing
