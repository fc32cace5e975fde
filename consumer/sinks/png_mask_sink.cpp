#include "consumer/sinks/png_mask_sink.hpp"

#include "consumer/sinks/output_name.hpp"
#include "consumer/sinks/palette.hpp"
#include "consumer/sinks/png.hpp"
#include "files/atomic_file.hpp"

namespace tailrace {

PngMaskSink::PngMaskSink(const SinkConfig& config, ImageSize model_input)
    : config_(config), model_input_(model_input), folder_(config.path) {
  if (config.overlay) overlay_folder_.emplace(folder_.path() + "-overlay");
}

std::vector<ItemResult> PngMaskSink::process(const BatchView& batch) {
  const SelectedTensor tensor = select_tensors(batch, config_.tensor).front();
  AtomicFiles masks(folder_);
  std::optional<AtomicFiles> overlays;
  if (overlay_folder_) overlays.emplace(*overlay_folder_);
  auto results = results_with_bytes(batch, {tensor});
  auto result = results.begin();
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    const Row& row = batch.rows[i];
    if (row.valid()) (result++)->files = write(row, mask_of(tensor, row, i), masks, overlays);
  }
  if (overlays) overlays->commit();
  masks.commit();
  return results;
}

const Mask& PngMaskSink::mask_of(const SelectedTensor& tensor, const Row& row, std::size_t index) {
  read_class_mask(tensor, index, mask_);
  if (!config_.original_size || row.height == 0) return mask_;
  const bool known = model_input_.height > 0 && model_input_.width > 0;
  original_ = to_original_size(mask_, row, known ? model_input_.height : mask_.height,
                               known ? model_input_.width : mask_.width);
  return original_;
}

std::vector<std::string> PngMaskSink::write(const Row& row, const Mask& mask, AtomicFiles& masks,
                                            std::optional<AtomicFiles>& overlays) {
  const std::string name = output_file_name(row.output_name, ".png");
  std::vector<std::string> files{masks.path_of(name)};
  masks.create(name).append(encode_png(mask.classes, mask.height, mask.width, 1));
  if (overlays) {
    files.push_back(overlays->path_of(name));
    overlays->create(name).append(encode_png(colour_overlay(mask), mask.height, mask.width, 4));
  }
  return files;
}

}  // namespace tailrace
