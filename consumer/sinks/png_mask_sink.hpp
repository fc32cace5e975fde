#pragma once

#include <memory>
#include <optional>

#include "consumer/sinks/class_mask.hpp"
#include "consumer/sinks/make_sink.hpp"
#include "consumer/sinks/select_tensors.hpp"
#include "files/output_folder.hpp"

namespace tailrace {

class AtomicFiles;

/// `png_mask`: OUTPUT_NAME.png for each valid row, 8-bit grey, value = class index. It has the size of the
/// model's output, padding included; with `original_size` that of the original image, where what the model
/// was not shown (cropped by `fill`) is 255. Rows that are no images keep the output's size. `overlay` adds a
/// folder beside the output folder, PATH-overlay, with a coloured RGBA picture of the same name for each
/// mask: beside, because any name inside may also be an item's.
class PngMaskSink : public Sink {
 public:
  /// `model_input`: see make_sink().
  PngMaskSink(const SinkConfig& config, ImageSize model_input);

  std::vector<ItemResult> process(const BatchView& batch) override;

 private:
  const Mask& mask_of(const SelectedTensor& tensor, const Row& row, std::size_t index);
  /// Final paths of what it wrote.
  static std::vector<std::string> write(const Row& row, const Mask& mask, AtomicFiles& masks,
                                        std::optional<AtomicFiles>& overlays);

  SinkConfig config_;
  ImageSize model_input_;
  OutputFolder folder_;
  std::optional<OutputFolder> overlay_folder_;
  Mask mask_;  // of the model's output; kept for its memory
  Mask original_;
};

}  // namespace tailrace
