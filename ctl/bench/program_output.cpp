#include "ctl/bench/program_output.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "ctl/bench/guarded_child.hpp"

namespace tailrace {
namespace {

std::string content_of(int fd) {
  std::string text;
  std::array<char, 1 << 16> piece{};
  for (;;) {
    const ssize_t length = pread(fd, piece.data(), piece.size(), static_cast<off_t>(text.size()));
    if (length <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(length));
  }
}

}  // namespace

ProgramOutput run_program_to_end(const std::vector<std::string>& command, const ChildSignals& signals) {
  const UniqueFd output(memfd_create("tailrace-bench-output", MFD_CLOEXEC));
  if (!output) throw std::system_error(errno, std::generic_category(), "memfd_create");
  GuardedChild child(Child(command.front(), command, -1, output.get()));
  const int code = child.wait_for_end(signals);
  return {code, content_of(output.get())};
}

std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto program = std::filesystem::path(folder) / name;
    std::error_code error;
    if (is_regular_file(program, error) && access(program.c_str(), X_OK) == 0) return program.string();
  }
  return {};
}

}  // namespace tailrace
