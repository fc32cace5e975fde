#include "tests/files/child.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>

namespace tailrace::testing {

pid_t start(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    body();
  } catch (const std::exception& error) {
    const std::string text = std::string(error.what()) + "\n";
    (void)!::write(STDERR_FILENO, text.data(), text.size());
    ::_exit(1);
  }
  ::_exit(0);
}

std::string in_child(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = start([&] {
    const std::string text = body();
    (void)!::write(ends[1], text.data(), text.size());
  });
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

}  // namespace tailrace::testing
