#include "tests/ctl/started_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace tailrace {
namespace {

std::string path_of(const std::string& program) {
  const char* folder = std::getenv("TAILRACE_BIN");
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  return (folder != nullptr ? std::filesystem::path(folder) : self.parent_path()) / program;
}

}  // namespace

bool eventually(const std::function<bool()>& condition, std::chrono::seconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

bool is_alive(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end != std::string::npos && stat.substr(name_end + 2, 1) != "Z";
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

StartedProgram::StartedProgram(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                               const Output& output, const std::string& program) {
  static int number = 0;
  const std::string prefix = (folder / ("program-" + std::to_string(++number))).string();
  out_ = output.file.empty() ? prefix + ".out" : output.file;
  err_ = prefix + ".err";
  std::vector<std::string> words{path_of(program)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ != 0) return;
  if (output.screen_fd >= 0) {
    dup2(output.screen_fd, STDIN_FILENO);
    dup2(output.screen_fd, STDOUT_FILENO);
  } else if (output.file == kClosed) {
    close(STDOUT_FILENO);
  } else {
    dup2(open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO);
  }
  dup2(output.stderr_fd >= 0 ? output.stderr_fd
                             : open(err_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
       STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(127);
}

StartedProgram::~StartedProgram() {
  if (!running()) return;
  send(SIGKILL);
  wait();
}

void StartedProgram::send(int signal) const { kill(pid_, signal); }

bool StartedProgram::running() {
  int status = 0;
  if (code_ || waitpid(pid_, &status, WNOHANG) != pid_) return !code_;
  code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return false;
}

int StartedProgram::wait(std::chrono::seconds limit) {
  return eventually([&] { return !running(); }, limit) ? *code_ : -1;
}

}  // namespace tailrace
