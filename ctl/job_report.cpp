#include "ctl/job_report.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>

#include "config/file_settings.hpp"
#include "config/instance.hpp"
#include "config/text.hpp"
#include "os/io_error.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{2};  // with who holds the ledger for himself

bool keep_waiting(std::chrono::milliseconds waited) { return waited < kPatience; }

std::optional<JobReport> read_job(const std::string& file) {
  JobReport job{fs::path(file).stem().string(), file, "", "", {}};
  try {
    FileSettings settings = read_file_settings(file);
    PipelineConfig& pipeline = settings.config.pipeline;
    if (pipeline.state.empty()) pipeline.state = default_state(settings.folder, pipeline.name);
    return report_on_job(settings.config, file);
  } catch (const std::exception& error) {
    job.detail = error.what();
    return job;
  }
}

std::vector<std::string> pipeline_files(const std::string& directory) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    if (path.extension() == ".toml" && is_name(path.stem().string())) files.push_back(path.string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string items_text(std::uint64_t count) { return number(count) + (count == 1 ? " item" : " items"); }

}  // namespace

std::optional<JobReport> report_on_job(const Config& config, const std::string& file) {
  JobReport job{config.pipeline.name, file, config.pipeline.state, "", {}};
  try {
    auto standing = JobLedger(Ledger::open_to_read(job.state, keep_waiting)).standing(group_names(config));
    if (!standing) return std::nullopt;
    job.standing = *std::move(standing);
  } catch (const LedgerError& error) {
    if (error.code().value() == ENOENT) return std::nullopt;
    job.detail = error.what();
  }
  return job;
}

std::vector<JobReport> report_on_service_jobs(const std::string& directory, const std::string& pipeline) {
  std::vector<JobReport> jobs;
  for (const std::string& file : pipeline_files(directory)) {
    if (!pipeline.empty() && fs::path(file).stem() != pipeline) continue;
    if (auto job = read_job(file)) jobs.push_back(*std::move(job));
  }
  return jobs;
}

std::vector<std::string> troubles_of(const JobReport& job) {
  std::vector<std::string> troubles;
  for (const GroupTotals& group : job.standing.groups)
    if (group.set_aside != 0)
      troubles.push_back("group " + group.group + " has " + items_text(group.set_aside) +
                         " set aside: `tailrace quarantine list " + in_quotes(job.file) + " --group " +
                         group.group +
                         "` says why; after mending, `retry` in the place of `list` has them done again");
  return troubles;
}

std::string job_text(const JobReport& job) {
  if (!job.detail.empty()) return job.pipeline + ": its job cannot be read: " + job.detail + "\n";
  std::string text = job.pipeline + ": job of " + items_text(job.standing.items) + ", " +
                     (job.standing.complete ? "complete" : "not complete") + ", ledger in " +
                     in_quotes(job.state) + "\n";
  for (const std::string& trouble : troubles_of(job)) text += "  ! " + trouble + "\n";
  for (const GroupTotals& group : job.standing.groups)
    text += "  group " + group.group + ": " + items_text(group.done) + " done, " + number(group.skipped) +
            " skipped, " + number(group.set_aside) + " set aside, " + number(group.missing) + " missing\n";
  return text;
}

}  // namespace tailrace
