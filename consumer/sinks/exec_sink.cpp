#include "consumer/sinks/exec_sink.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "consumer/sinks/child_process.hpp"
#include "consumer/sinks/select_tensors.hpp"

namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

Json json_of(const Rect& rect) { return {rect.top, rect.left, rect.height, rect.width}; }

Json json_of(const Row& row) {
  return {{"item", row.item},
          {"name", row.name},
          {"output_name", row.output_name},
          {"valid", row.valid()},
          {"skip_reason", row.skip_reason},
          {"height", row.height},
          {"width", row.width},
          {"source", json_of(row.source)},
          {"content", json_of(row.content)}};
}

Json json_of(const SelectedTensor& tensor) {
  return {{"name", tensor.name()},
          {"dtype", info_of(tensor.tensor->shape.dtype).name},
          {"shape", tensor.view.sizes},
          {"per_row", tensor.per_row()},
          {"bytes", tensor.view.byte_count()}};
}

std::string header_line(const BatchView& batch, const std::vector<SelectedTensor>& tensors) {
  Json header{{"tailrace", kFormatVersion}, {"batch", value_of(batch.number)}};
  Json& rows = header["rows"] = Json::array();
  for (const Row& row : batch.rows) rows.push_back(json_of(row));
  Json& outputs = header["tensors"] = Json::array();
  for (const SelectedTensor& tensor : tensors) outputs.push_back(json_of(tensor));
  return header.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

const std::string& program_name(const SinkConfig& config) {
  if (config.command.empty()) throw std::runtime_error("the sink exec needs a `command`: a list of words");
  return config.command.front();
}

}  // namespace

ExecSink::ExecSink(const SinkConfig& config)
    : config_(config), program_(find_program(program_name(config))) {}

std::vector<ItemResult> ExecSink::process(const BatchView& batch) {
  const auto tensors = select_tensors(batch, config_.tensor);
  const std::string header = header_line(batch, tensors);
  ChildProcess child(program_, config_.command, config_.timeout, group_);
  bool wants_more = child.write(std::as_bytes(std::span(header)));
  for (const SelectedTensor& tensor : tensors)
    wants_more = wants_more && for_each_piece(tensor.view, [&](std::span<const std::byte> bytes) {
                   return child.write(bytes);
                 });
  child.finish();
  return results_with_bytes(batch, tensors);
}

}  // namespace tailrace
