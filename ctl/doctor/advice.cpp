#include "ctl/doctor/advice.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "ctl/figures_text.hpp"

namespace tailrace {
namespace {

constexpr double kCpusFull = 0.95;
constexpr double kSlowCopies = 0.7;  // of what the link has carried
constexpr double kWorthNaming = 1.05;

std::string share_of_time(double share) { return percent_text(share) + " of the time"; }

std::string times_text(double factor) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", factor);
  return text.data();
}

std::string stage_name(const Capacity& capacity) {
  switch (capacity.stage) {
    case Bottleneck::kNothing:
      return "the model on the device";
    case Bottleneck::kH2d:
      return "copying input to the device";
    case Bottleneck::kCompute:
      return "the producer's main loop";
    case Bottleneck::kLink:
      return "copying output into the ring";
    case Bottleneck::kConsumers:
      return "the consumers of " + capacity.group;
    default:
      return std::string(name_of(capacity.stage));
  }
}

std::string device_line(const PipelineFigures& f) {
  return "the device is busy " + share_of_time(f.device_busy) +
         (f.compute_s > 0 ? ", " + span_text(f.compute_s) + " for each batch" : "");
}

std::string waits_line(const PipelineFigures& f) {
  return "the producer waits for input " + percent_text(f.waits_input) + ", for slots " +
         percent_text(f.waits_slot) + ", for the device " + percent_text(f.waits_device) + " of its time";
}

const GroupFigures& group_of(const PipelineFigures& f, const std::string& name) {
  return *std::find_if(f.groups.begin(), f.groups.end(),
                       [&](const auto& group) { return group.name == name; });
}

/// Empty unless there is nothing left for more processes and threads.
std::string cpus_line(const PipelineFigures& f) {
  if (!f.cpu_busy || *f.cpu_busy < kCpusFull) return {};
  return "the machine's CPUs are busy " + share_of_time(*f.cpu_busy) +
         ": more processes or threads will not help, less work for each batch will";
}

void add(std::vector<std::string>& lines, std::string line) {
  if (!line.empty()) lines.push_back(std::move(line));
}

Advice about_nothing(const PipelineFigures& f) {
  Advice advice{"nothing holds the model up", {device_line(f), waits_line(f)}, "", {}, ""};
  advice.remedy =
      "only the model itself can be made faster: a lower model.precision, a smaller model, a faster device, "
      "or a second one with source.shard";
  return advice;
}

Advice about_input(const PipelineFigures& f, const Config* config) {
  Advice advice{
      "input: items are not read and decoded fast enough", {waits_line(f), device_line(f)}, "", {}, ""};
  add(advice.evidence, cpus_line(f));
  advice.remedy =
      "more decode threads (source.workers), a smaller source.size, or faster storage for the inputs";
  advice.settings.push_back(
      {"source.workers", config == nullptr ? "" : std::to_string(2 * config->source.workers)});
  return advice;
}

Advice about_h2d(const PipelineFigures& f) {
  return {"h2d: input does not reach the device fast enough",
          {"copies to the device are under way " + share_of_time(f.h2d_busy) + ", " + span_text(f.h2d_s) +
               " for each batch",
           waits_line(f), device_line(f)},
          "fewer bytes for each item: a smaller source.size, a narrower source.dtype; look for another user "
          "of the link, and whether the device has all its PCIe lanes (nvidia-smi -q)",
          {{"source.size", ""}},
          ""};
}

Advice about_compute(const PipelineFigures& f) {
  return {"compute: the producer does not give the device its work fast enough",
          {"the producer's main thread is busy with its own work (launching the model) " +
               share_of_time(f.shares().own_work()),
           waits_line(f), device_line(f)},
          "launch each batch as one graph (model.cuda_graph), or make batches larger (source.batch_size); a "
          "CPU with faster single threads helps, too",
          {{"model.cuda_graph", "on"}, {"source.batch_size", ""}},
          ""};
}

Advice about_link(const PipelineFigures& f, const Verdict& verdict) {
  Advice advice{"link: output does not leave the device fast enough", {}, "", {}, ""};
  const double reached = f.copy_s > 0 ? f.bytes_per_batch / f.copy_s : 0;
  advice.evidence.push_back(
      "copies into the ring are under way " + share_of_time(f.copy_busy) + ", " + span_text(f.copy_s) +
      " for each batch, at " + byte_rate_text(reached) +
      (f.link_bytes_per_s > 0 ? "; the link has carried " + byte_rate_text(f.link_bytes_per_s) : ""));
  advice.evidence.push_back(waits_line(f));
  advice.evidence.push_back(device_line(f));
  const bool slow = f.link_bytes_per_s > 0 && reached < kSlowCopies * f.link_bytes_per_s;
  if (!verdict.overlaps || slow) {
    advice.headline = verdict.overlaps ? "link: copies are slower than the link"
                                       : "link: the model and the copies take turns";
    advice.remedy =
        "let the copies run beside the model (egress.strategy = \"streams\") into a pinned ring "
        "(LimitMEMLOCK) near the device";
    advice.settings.push_back({"egress.strategy", "streams"});
    return advice;
  }
  advice.remedy =
      "fewer bytes for each batch: a narrower egress.dtype (float16, bfloat16, uint8), only the "
      "model.outputs that somebody reads, or the reduction (argmax, threshold) inside the model";
  advice.settings = {{"egress.dtype", ""}, {"model.outputs", ""}};
  return advice;
}

Advice about_ring(const PipelineFigures& f, const Verdict& verdict) {
  Advice advice{"ring: too few slots for bursts", {waits_line(f)}, "", {}, ""};
  for (const GroupFigures& group : f.groups)
    advice.evidence.push_back("the consumers of " + group.name + " are busy " + percent_text(group.busy) +
                              " and wait for batches " + percent_text(group.waiting) + " of their time");
  advice.evidence.push_back(device_line(f));
  advice.remedy = "more slots, so that a slow batch does not stop the producer (memory: tailrace validate)";
  advice.settings.push_back({"ring.slots", std::to_string(verdict.processes)});
  return advice;
}

std::string busy_line(const GroupFigures& group) {
  return std::to_string(group.consumers) + (group.consumers == 1 ? " consumer of " : " consumers of ") +
         group.name + (group.consumers == 1 ? " is busy " : " are busy ") + share_of_time(group.busy) + ", " +
         span_text(group.sink_s) + " for each batch";
}

Advice about_consumers(const std::string& pipeline, const PipelineFigures& f, const Verdict& verdict) {
  const GroupFigures& group = group_of(f, verdict.group);
  Advice advice{
      "consumers: group " + group.name + " has too few", {busy_line(group), waits_line(f)}, "", {}, ""};
  add(advice.evidence, cpus_line(f));
  const std::string processes = std::to_string(verdict.processes);
  advice.remedy = processes + " consumers in group " + group.name + ", or less work for each batch";
  advice.settings.push_back({"group." + group.name + ".processes", processes});
  advice.command = "tailrace scale " + pipeline + ":" + group.name + " " + processes;
  return advice;
}

Advice about_disk(const PipelineFigures& f, const Verdict& verdict) {
  const GroupFigures& group = group_of(f, verdict.group);
  Advice advice{
      "disk: storage is too slow for group " + group.name,
      {busy_line(group),
       "of that time " + percent_text(group.storage / std::max(group.busy, 1e-9)) +
           " is spent in storage (writes, fsync, renames, the ledger)",
       waits_line(f)},
      "a faster file system for the outputs, fewer and larger files (per = \"batch\" for npy), or a smaller "
      "dtype; more consumers help only while the device has bandwidth left (iostat -x)",
      {{"group." + group.name + ".sink", ""}},
      ""};
  return advice;
}

}  // namespace

Advice advise(const std::string& pipeline, const Verdict& verdict, const PipelineFigures& f,
              const Config* config) {
  switch (verdict.bottleneck) {
    case Bottleneck::kInput:
      return about_input(f, config);
    case Bottleneck::kH2d:
      return about_h2d(f);
    case Bottleneck::kCompute:
      return about_compute(f);
    case Bottleneck::kLink:
      return about_link(f, verdict);
    case Bottleneck::kRing:
      return about_ring(f, verdict);
    case Bottleneck::kConsumers:
      return about_consumers(pipeline, f, verdict);
    case Bottleneck::kDisk:
      return about_disk(f, verdict);
    default:
      return about_nothing(f);
  }
}

std::string gain_text(const Verdict& verdict) {
  if (verdict.bottleneck == Bottleneck::kNothing) return "";
  if (!verdict.gain) return "unknown";
  std::string text =
      *verdict.gain < kWorthNaming ? "hardly any" : "up to " + times_text(*verdict.gain) + " times as fast";
  if (verdict.then) text += "; next limit: " + stage_name(*verdict.then);
  return text;
}

}  // namespace tailrace
