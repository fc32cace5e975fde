#include "ctl/doctor/doctor_report.hpp"

#include <algorithm>

#include "ctl/figures_text.hpp"
#include "ctl/json_text.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

// The model on the device and the main loop that feeds it are two stages of "compute".
std::string stage_key(const Capacity& capacity) {
  if (capacity.stage == Bottleneck::kNothing) return "compute";
  if (capacity.stage == Bottleneck::kCompute) return "main_loop";
  return std::string(name_of(capacity.stage));
}

Json to_json(const Capacity& capacity) {
  return {{"stage", stage_key(capacity)},
          {"group", capacity.group.empty() ? Json(nullptr) : Json(capacity.group)},
          {"batches_per_s", capacity.batches_per_s}};
}

Json to_json(const GroupFigures& group) {
  return {{"name", group.name},       {"consumers", group.consumers}, {"busy", group.busy},
          {"waiting", group.waiting}, {"disk", group.storage},        {"sink_s", group.sink_s}};
}

Json to_json(const PipelineFigures& f) {
  Json json{{"interval_s", f.interval_s},
            {"batches_per_s", f.batches_per_s},
            {"waits_input", f.waits_input},
            {"waits_slot", f.waits_slot},
            {"waits_compute", f.waits_device},
            {"own_work", f.shares().own_work()},
            {"device_busy", f.device_busy},
            {"h2d_busy", f.h2d_busy},
            {"copy_busy", f.copy_busy},
            {"h2d_s", f.h2d_s},
            {"compute_s", f.compute_s},
            {"copy_s", f.copy_s},
            {"bytes_per_batch", f.bytes_per_batch},
            {"link_bytes_per_s", f.link_bytes_per_s},
            {"slots", f.slots},
            {"cpu_busy", or_null(f.cpu_busy)}};
  json["groups"] = Json::array();
  for (const GroupFigures& group : f.groups) json["groups"].push_back(to_json(group));
  return json;
}

Json to_json(const Setting& setting) {
  return {{"key", setting.key}, {"value", setting.value.empty() ? Json(nullptr) : Json(setting.value)}};
}

Json verdict_json(const Diagnosis& d) {
  Json json{{"bottleneck", name_of(d.verdict.bottleneck)},
            {"group", d.verdict.group.empty() ? Json(nullptr) : Json(d.verdict.group)},
            {"headline", d.advice.headline},
            {"evidence", d.advice.evidence},
            {"remedy", d.advice.remedy},
            {"command", d.advice.command.empty() ? Json(nullptr) : Json(d.advice.command)},
            {"gain", or_null(d.verdict.gain)},
            {"then", d.verdict.then ? to_json(*d.verdict.then) : Json(nullptr)}};
  json["settings"] = Json::array();
  for (const Setting& setting : d.advice.settings) json["settings"].push_back(to_json(setting));
  json["capacities"] = Json::array();
  for (const Capacity& capacity : d.verdict.capacities) json["capacities"].push_back(to_json(capacity));
  json["figures"] = to_json(d.figures);
  return json;
}

std::string settings_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : settings)
    if (!setting.value.empty()) text += (text.empty() ? "" : ", ") + setting.key + " = " + setting.value;
  return text;
}

std::string capacities_text(const Verdict& verdict) {
  std::string text;
  for (const Capacity& capacity : verdict.capacities)
    text += (text.empty() ? "" : ", ") + stage_key(capacity) +
            (capacity.group.empty() ? "" : " " + capacity.group) + " " + rate_text(capacity.batches_per_s);
  return text;
}

std::string field(const std::string& name, const std::string& text) {
  return text.empty() ? "" : "  " + left_in(name, 10) + text + "\n";
}

}  // namespace

Json to_json(const Diagnosis& diagnosis) {
  const bool judged = diagnosis.not_judged.empty();
  Json troubles = Json::array();
  for (const Trouble& trouble : diagnosis.troubles) troubles.push_back(trouble.text);
  return {{"name", diagnosis.pipeline},
          {"troubles", troubles},
          {"not_judged", judged ? Json(nullptr) : Json(diagnosis.not_judged)},
          {"verdict", judged ? verdict_json(diagnosis) : Json(nullptr)}};
}

Json to_json(const MachineCheck& check) {
  return {{"check", check.name},
          {"level", kCheckLevelNames[static_cast<std::size_t>(check.level)]},
          {"found", check.found},
          {"remedy", check.remedy.empty() ? Json(nullptr) : Json(check.remedy)}};
}

std::string to_text(const Diagnosis& d) {
  const bool judged = d.not_judged.empty();
  std::string text = d.pipeline + ": " + (judged ? d.advice.headline : "not judged, " + d.not_judged) + "\n";
  for (const Trouble& trouble : d.troubles) text += field("!", trouble.text);
  if (!judged) return text;
  text +=
      field("now", rate_text(d.figures.batches_per_s) + " batches/s over " + span_text(d.figures.interval_s));
  for (const std::string& evidence : d.advice.evidence) text += field("because", evidence);
  text += field("change", d.advice.remedy);
  text += field("set", settings_text(d.advice.settings));
  text += field("or run", d.advice.command);
  text += field("gain", gain_text(d.verdict));
  text += field("could do", capacities_text(d.verdict) + " batches/s, each stage if it never waited");
  return text;
}

std::string to_text(const std::vector<MachineCheck>& checks) {
  std::size_t width = 0;
  for (const MachineCheck& check : checks) width = std::max(width, columns(check.name));
  std::string text = "machine:\n";
  for (const MachineCheck& check : checks) {
    text += "  " + left_in(std::string(kCheckLevelNames[static_cast<std::size_t>(check.level)]), 8) +
            left_in(check.name, width) + "  " + check.found + "\n";
    if (!check.remedy.empty()) text += "  " + std::string(8 + width, ' ') + "  → " + check.remedy + "\n";
  }
  return text;
}

}  // namespace tailrace
