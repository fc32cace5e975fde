#include "ctl/bench/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace tailrace {

namespace {

std::filesystem::path place_for_temporary_files() {
  std::error_code error;
  auto place = std::filesystem::temp_directory_path(error);
  if (!error) return place;
  const char* const wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  throw std::system_error(error, "cannot use TMPDIR ('" + std::string(wanted == nullptr ? "/tmp" : wanted) +
                                     "') for temporary files");
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (place_for_temporary_files() / "tailrace-bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make a temporary folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // what cannot be removed now is the system's to clean up
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tailrace
