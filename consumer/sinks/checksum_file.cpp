#include "consumer/sinks/checksum_file.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <span>

#include "consumer/sinks/io_error.hpp"
#include "consumer/sinks/write_all.hpp"

namespace tailrace {
namespace {

std::string line_of(std::uint64_t item, std::uint64_t checksum) {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "{\"item\": %" PRIu64 ", \"xxh3\": \"%016" PRIx64 "\"}\n", item,
                checksum);
  return text.data();
}

std::string lines_of(const std::vector<ItemResult>& results) {
  std::string lines;
  for (const ItemResult& result : results)
    if (result.checksum) lines += line_of(result.item, *result.checksum);
  return lines;
}

}  // namespace

ChecksumFile::ChecksumFile(const std::string& state_folder, const std::string& group, unsigned id)
    : path_(state_folder + "/checksums/" + group + "-" + std::to_string(id) + ".jsonl") {}

void ChecksumFile::append(const std::vector<ItemResult>& results) {
  const std::string lines = lines_of(results);
  if (lines.empty()) return;
  if (!file_) {
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), failed);
    file_ = UniqueFd(open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file_) throw_io_error(errno, "open", path_);
  }
  if (const int error = write_all(file_.get(), std::as_bytes(std::span(lines))))
    throw_io_error(error, "write", path_);
}

}  // namespace tailrace
