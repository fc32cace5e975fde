#include "producer/sources/file_list.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace tailrace {
namespace {

namespace fs = std::filesystem;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

using FolderId = std::pair<dev_t, ino_t>;

FolderId id_of(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot look at the folder " + folder.string());
  return {status.st_dev, status.st_ino};
}

class FolderWalk {
 public:
  explicit FolderWalk(std::span<const std::string_view> suffixes) : suffixes_(suffixes) {}

  std::vector<std::string> names;

  void visit(const fs::path& folder, const std::string& prefix) {
    const FolderId id = id_of(folder);
    if (std::find(open_.begin(), open_.end(), id) != open_.end()) return;  // a link to where we came from
    open_.push_back(id);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().native();
      if (name.starts_with('.')) continue;
      if (has_suffix(name, suffixes_)) names.push_back(prefix + name);
      std::error_code not_there;  // a dangling link is no folder
      if (entry.is_directory(not_there)) visit(entry.path(), prefix + name + '/');
    }
    open_.pop_back();
  }

 private:
  std::span<const std::string_view> suffixes_;
  std::vector<FolderId> open_;  // the folder being read and those above it
};

}  // namespace

bool has_suffix(std::string_view name, std::span<const std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [name](std::string_view suffix) {
    return name.size() > suffix.size() &&
           std::equal(suffix.begin(), suffix.end(), name.end() - static_cast<std::ptrdiff_t>(suffix.size()),
                      [](char wanted, char found) { return wanted == lower(found); });
  });
}

std::vector<std::string> list_folder(const fs::path& folder, std::span<const std::string_view> suffixes) {
  FolderWalk walk(suffixes);
  walk.visit(folder, "");
  std::sort(walk.names.begin(), walk.names.end());
  return std::move(walk.names);
}

std::vector<std::string> read_list_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw std::system_error(errno, std::generic_category(), "cannot open the list file " + file.string());
  std::vector<std::string> lines;
  std::array<char, PATH_MAX + 2> buffer{};  // the longest path, "\r" and the end; never a whole endless line
  for (std::uint64_t number = 1; stream.getline(buffer.data(), buffer.size()) || stream.gcount() != 0;
       ++number) {
    const bool is_cut = stream.fail();
    const std::streamsize end = stream.eof() || is_cut ? 0 : 1;  // "\n", which is counted, too
    std::string_view line(buffer.data(), static_cast<std::size_t>(stream.gcount() - end));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_cut || line.size() >= PATH_MAX)
      throw std::invalid_argument("line " + std::to_string(number) + " of the list file " + file.string() +
                                  " is longer than the " + std::to_string(PATH_MAX - 1) +
                                  " bytes that a path has at most: is this a list of paths, one a line?");
    if (!line.empty()) lines.emplace_back(line);
  }
  if (stream.bad())
    throw std::system_error(EIO, std::generic_category(), "cannot read the list file " + file.string());
  return lines;
}

}  // namespace tailrace
