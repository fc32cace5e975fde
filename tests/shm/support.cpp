#include "tests/shm/support.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace tailrace::testing {
namespace {

constexpr std::size_t kValues = 64;

std::uint64_t value_at(std::uint64_t number, std::size_t index) {
  return (number + 1) * 0x9e3779b97f4a7c15 + index;
}

namespace fs = std::filesystem;

constexpr const char* kPrefix = "tailrace-test-";
constexpr std::chrono::minutes kYoung{1};  // it may not be locked yet

UniqueFd lock_folder(const fs::path& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  return fd;
}

/// What tests that were killed have left: nobody holds its lock.
void sweep() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev/shm", error)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(error);
    if (!error && age > kYoung && lock_folder(entry.path())) fs::remove_all(entry.path(), error);
  }
}

}  // namespace

TempFolder::TempFolder() {
  static const bool swept = (sweep(), true);
  (void)swept;
  std::string pattern = "/dev/shm/" + std::string(kPrefix) + "XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw std::system_error(errno, std::generic_category(), pattern);
  path_ = pattern;
  lock_ = lock_folder(path_);
}

TempFolder::~TempFolder() { std::filesystem::remove_all(path_); }

std::vector<std::string> TempFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

RingSpec small_spec(std::uint32_t slot_count) {
  RingSpec spec;
  spec.name = "test";
  spec.slot_count = slot_count;
  spec.slot_bytes = 64 << 10;
  spec.groups = {{"one", 3}, {"two", 0}};
  spec.job_digest = 42;
  spec.items.position_count = 1'000'000;
  return spec;
}

RingOwner own(const RingFiles& files, const RingSpec& spec) {
  return {files, spec, [](const std::string&) {}, [] { return false; }};
}

Ring attach(const RingFiles& files, RingAccess access) {
  AttachAnswer answer = attach_ring(files, access);
  if (!answer.ring) throw std::runtime_error("no ring: " + answer.detail);
  return std::move(*answer.ring);
}

bool publish_batch(FreeQueue& queue, std::uint64_t number) {
  auto filling = queue.try_claim();
  if (!filling) return false;
  Row row;
  row.item = number;
  row.name = "item " + std::to_string(number);
  row.output_name = "out/" + std::to_string(number);
  const std::vector<Row> rows{row};
  TensorPlan tensor{"out", {Dtype::kUint64, {1, kValues}, {kValues, 1}}, true, kValues * 8, 0};
  const SlotPlan plan = plan_slot(rows, {tensor});
  write_descriptor(filling->bytes(), BatchNumber{number}, rows, plan);
  for (std::size_t i = 0; i < kValues; ++i) {
    const std::uint64_t value = value_at(number, i);
    std::memcpy(filling->bytes().data() + plan.tensors[0].offset + i * 8, &value, 8);
  }
  filling->publish(1, 1);
  return true;
}

std::uint64_t checked_batch(const Lease& lease) {
  const BatchView batch = read_descriptor(lease.bytes());
  const std::uint64_t number = value_of(batch.number);
  if (batch.rows.size() != 1 || batch.rows[0].item != number) throw std::runtime_error("a torn descriptor");
  for (std::size_t i = 0; i < kValues; ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, batch.tensors.at(0).bytes.data() + i * 8, 8);
    if (value != value_at(number, i))
      throw std::runtime_error("a wrong value in batch " + std::to_string(number));
  }
  return number;
}

char Child::Line::hear() const {
  char byte = 0;
  while (read(in_, &byte, 1) < 0 && errno == EINTR) {
  }
  return byte;
}

void Child::Line::say(char byte) const {
  if (write(out_, &byte, 1) != 1) throw std::system_error(errno, std::generic_category(), "pipe");
}

Child::Line Child::fork_into(pid_t& pid, int (&fds)[2], const std::function<void(const Line&)>& body) {
  int down[2];
  int up[2];
  if (pipe2(down, O_CLOEXEC) != 0 || pipe2(up, O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe2");
  fflush(nullptr);
  pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    close(down[1]);
    close(up[0]);
    try {
      body(Line(down[0], up[1]));
    } catch (const std::exception& error) {
      fprintf(stderr, "child: %s\n", error.what());
      _exit(99);
    }
    _exit(0);
  }
  close(down[0]);
  close(up[1]);
  fds[0] = up[0];
  fds[1] = down[1];
  return {up[0], down[1]};
}

Child::Child(const std::function<void(const Line&)>& body) : line_(fork_into(pid_, fds_, body)) {}

Child::~Child() {
  if (pid_ > 0) kill_now();
  for (const int fd : fds_) close(fd);
}

void Child::send(int signal) const { kill(pid_, signal); }

int Child::kill_now() {
  send(SIGKILL);
  return join();
}

int Child::join() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool stopping_at_system_calls(const std::function<void()>& body, const std::function<bool()>& go_on) {
  const pid_t pid = fork();
  if (pid == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    body();
    _exit(0);
  }
  int status = 0;
  for (waitpid(pid, &status, 0); WIFSTOPPED(status); waitpid(pid, &status, 0)) {
    if (!go_on()) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      return true;
    }
    ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("the child failed");
  return false;
}

}  // namespace tailrace::testing
