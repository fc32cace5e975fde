#include "producer/profile/throughput_report.hpp"

#include <nlohmann/json.hpp>

#include "config/load.hpp"

namespace tailrace {
namespace {

nlohmann::json value_of(const Config& config, std::string_view key) {
  return nlohmann::json::parse(value_text(config, key));
}

}  // namespace

std::string throughput_json(const Throughput& t, const Config& config, const Device& device,
                            const ProducerGauges& gauges) {
  const nlohmann::ordered_json json{{"pipeline", config.pipeline.name},
                                    {"strategy", value_of(config, "egress.strategy")},
                                    {"device", device.description()},
                                    {"model", value_of(config, "model.kind")},
                                    {"precision", value_of(config, "model.precision")},
                                    {"batch_size", config.source.batch_size},
                                    {"steps", t.steps},
                                    {"items", t.items},
                                    {"bytes", t.bytes},
                                    {"wall_s", t.wall_s},
                                    {"steps_per_s", t.per_second(static_cast<double>(t.steps))},
                                    {"items_per_s", t.per_second(static_cast<double>(t.items))},
                                    {"bytes_per_s", t.per_second(static_cast<double>(t.bytes))},
                                    {"gpu_busy", t.busy()},
                                    {"compute_s", t.compute_s},
                                    {"input_wait_s", t.input_wait_s},
                                    {"slot_wait_s", t.slot_wait_s},
                                    {"limited_by", t.limited_by()},
                                    {"link_bytes_per_s", gauges.link_bytes_per_s.load()},
                                    {"slots_pinned", gauges.slots_pinned.load() != 0},
                                    {"page_bytes", gauges.page_bytes.load()},
                                    {"numa_node", gauges.numa_node.load()}};
  return json.dump(2) + "\n";
}

}  // namespace tailrace
