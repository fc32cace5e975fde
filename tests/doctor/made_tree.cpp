#include "tests/doctor/made_tree.hpp"

#include <stdlib.h>

#include <fstream>
#include <stdexcept>

namespace tailrace::testing {

namespace fs = std::filesystem;

MadeTree::MadeTree() {
  std::string name = (fs::temp_directory_path() / "tailrace-machine-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  root_ = name;
}

MadeTree::~MadeTree() { fs::remove_all(root_); }

void MadeTree::add(const std::string& path, const std::string& content) const {
  const fs::path file = root_ / path.substr(1);
  fs::create_directories(file.parent_path());
  std::ofstream(file) << content;
}

}  // namespace tailrace::testing
