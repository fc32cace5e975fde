#include "ctl/systemctl.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "config/text.hpp"
#include "os/child_end.hpp"
#include "os/pipe.hpp"
#include "os/spawn.hpp"

namespace tailrace {
namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t bytes = read(fd, buffer.data(), buffer.size());
    if (bytes > 0)
      text.append(buffer.data(), static_cast<std::size_t>(bytes));
    else if (bytes == 0 || errno != EINTR)
      return text;
  }
}

}  // namespace

std::string run_systemctl(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"systemctl"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  Pipe pipe = make_pipe();
  Spawn spawn;
  spawn.redirect(pipe.write.get(), STDOUT_FILENO);
  const pid_t pid = spawn.start(words.front(), words);
  pipe.write.reset();
  std::string output = read_all(pipe.read.get());
  const auto status = wait_for_end(pid);
  if (const int code = status ? exit_code_of_status(*status) : 0; code != 0)
    throw std::runtime_error("`" + joined(words, " ") + "` ended with " + std::to_string(code));
  return output;
}

}  // namespace tailrace
