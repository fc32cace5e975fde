#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "consumer/sinks/select_tensors.hpp"
#include "shm/batch_view.hpp"

namespace tailrace {

/// One class index for each pixel, rows from the top.
struct Mask {
  std::int32_t height = 0;
  std::int32_t width = 0;
  std::vector<std::uint8_t> classes;
};

/// Throws std::runtime_error naming the tensor where no mask can be read from it: its shape and dtype alone
/// are looked at.
void require_class_scores(const TensorView& tensor);

/// Reads one row of a model's output as a mask of the output's own size. Accepted are
///   [B, C, H, W], 2 <= C <= 256, real dtype: the class with the highest value. Ties go to the lowest class;
///   NaN loses
///     against everything, and where all are NaN the class is 0;
///   [B, H, W] or [B, 1, H, W], integer dtype or bool: the classes themselves, 0 … 255.
/// Any strides. Throws std::runtime_error naming the tensor for other shapes and dtypes, and for classes that
/// are out of range.
void read_class_mask(const SelectedTensor& tensor, std::size_t row, Mask& mask);

/// Pixels of the original image that the model was not shown.
inline constexpr std::uint8_t kIgnoredClass = 255;

/// Maps a mask back to the original image by nearest neighbour: what lies in `row.content` of the model's
/// input comes to lie in `row.source` of a row.height x row.width mask; the rest is kIgnoredClass. The mask
/// may be of another size than the model's input (an output stride), `input_height` x `input_width`. Throws
/// std::runtime_error where the rectangles do not lie inside their images.
Mask to_original_size(const Mask& mask, const Row& row, std::int32_t input_height, std::int32_t input_width);

}  // namespace tailrace
