#include "tests/ctl/bench_fixture.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

#include <fstream>
#include <stdexcept>

#include "ledger/job_ledger.hpp"
#include "os/unique_fd.hpp"
#include "tests/ctl/started_program.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReport =
    R"({"strategy":"%s","device":"cpu","precision":"fp32","model":"double","batch_size":4,"steps":8,"items":32,)"
    R"("bytes":8000,"wall_s":2.0,"steps_per_s":%s,"items_per_s":16.0,"bytes_per_s":4000.0,"gpu_busy":0.5,)"
    R"("compute_s":1.0,"input_wait_s":0.0,"slot_wait_s":0.0,"link_bytes_per_s":0,"slots_pinned":false,)"
    R"("page_bytes":4096,"numa_node":-1})";

}  // namespace

/// A producer leaves one when its job is done.
std::string BenchFixture::complete_ledger() const {
  JobLedger ledger(Ledger::create(folder_));
  JobIdentity job;
  job.pipeline = "any";
  (void)ledger.begin(job, {}, false);
  (void)ledger.mark_complete(0);
  return ledger_path(folder_);
}

BenchFixture::BenchFixture() : programs_(TAILRACE_BINARY_DIR) {
  std::string name = (fs::temp_directory_path() / "tailrace bench XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = name;
  fs::create_directory(file("tmp"));
}

BenchFixture::~BenchFixture() {
  if (child_ && child_->running()) {
    child_->send(SIGTERM);
    EXPECT_TRUE(eventually([&] { return child_->try_reap().has_value(); }));
  }
  fs::remove_all(folder_);
}

void BenchFixture::write_program(const std::string& name, const std::string& script) const {
  std::ofstream(programs_ / name) << "#!/bin/bash\n" << script;
  fs::permissions(programs_ / name, fs::perms::owner_all);
}

void BenchFixture::use_no_producer() {
  programs_ = file("bin");
  fs::create_directory(programs_);
  fs::copy_file(fs::path(TAILRACE_BINARY_DIR) / "tailrace", programs_ / "tailrace");
}

void BenchFixture::use_doubles(const std::string& producer) {
  use_no_producer();
  write_program("tailrace-consumer", "trap 'exit 0' TERM\nwhile :; do read -rt 0.05 <> <(:); done\n");
  write_program("tailrace-producer",
                "echo \"$*\" >> '" + file("calls").string() +
                    "'\n"
                    "strategy=streams rate=4\n"
                    "for argument; do case $argument in\n"
                    "  --set=egress.strategy=*) strategy=${argument##*=} ;;\n"
                    "  --set=profile.report=*) report=${argument#--set=profile.report=} ;;\n"
                    "  --set=pipeline.state=*) state=${argument#--set=pipeline.state=} ;;\n"
                    "esac; done\n"
                    "[[ $strategy == inline ]] && rate=2\n"
                    "mkdir -p \"$state\" && cp '" +
                    complete_ledger() + "' \"$state\"\n" + producer + "\nprintf '" + kReport +
                    "' \"$strategy\" $rate > \"$report\"\n");
}

Child& BenchFixture::start(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& variables) {
  std::vector<std::string> command{"/usr/bin/env", "TMPDIR=" + file("tmp").string()};
  command.insert(command.end(), variables.begin(), variables.end());
  command.insert(command.end(), {(programs_ / "tailrace").string(), "bench"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto open_file = [&](const char* name) {
    return UniqueFd(open(file(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  };
  const UniqueFd err = open_file("bench.err");
  const UniqueFd out = open_file("bench.out");
  child_.emplace("bench", std::move(command), err.get(), out.get());
  child_->start();
  return *child_;
}

BenchFixture::Ended BenchFixture::bench(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& variables) {
  Child& child = start(arguments, variables);
  std::optional<int> code;
  EXPECT_TRUE(eventually([&] { return (code = child.try_reap()).has_value(); }));
  return {code.value_or(-1), content_of(file("bench.out")), content_of(file("bench.err"))};
}

std::vector<std::string> BenchFixture::producer_calls() const {
  std::vector<std::string> calls;
  std::ifstream stream(file("calls"));
  for (std::string line; std::getline(stream, line);) calls.push_back(line);
  return calls;
}

std::vector<std::string> BenchFixture::leftovers() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(file("tmp"))) found.push_back(entry.path().string());
  for (const auto& entry : fs::directory_iterator("/dev/shm"))
    if (entry.path().filename().string().find("bench-" + std::to_string(child_->pid())) != std::string::npos)
      found.push_back(entry.path().string());
  return found;
}

}  // namespace tailrace
