// How many pixels of each class an image has, as the model sees it: one small CSV file for each item.
#include <array>
#include <consumer/consumer_main.hpp>
#include <consumer/sinks/class_mask.hpp>
#include <consumer/sinks/output_name.hpp>
#include <cstddef>
#include <files/atomic_file.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace {

class ClassHistograms : public tailrace::Sink {
 public:
  explicit ClassHistograms(const std::string& folder) : folder_(folder) {}

  std::vector<tailrace::ItemResult> process(const tailrace::BatchView& batch) override {
    const auto scores = tailrace::select_tensors(batch, "").front();  // the first output
    tailrace::AtomicFiles files(folder_);
    auto results = tailrace::results_with_bytes(batch, {scores});
    auto result = results.begin();
    for (std::size_t i = 0; i < batch.rows.size(); ++i) {
      if (!batch.rows[i].valid()) continue;
      tailrace::read_class_mask(scores, i, mask_);
      const std::string name = tailrace::output_file_name(batch.rows[i].output_name, ".csv");
      const std::string csv = count_pixels();
      files.create(name).append(std::as_bytes(std::span(csv)));
      (result++)->files = {files.path_of(name)};
    }
    files.commit();  // from here on the files are there, whole and durable
    return results;
  }

 private:
  [[nodiscard]] std::string count_pixels() const {
    std::array<std::size_t, 256> pixels{};
    for (const auto index : mask_.classes) ++pixels[index];
    std::string csv = "class,pixels\n";
    for (std::size_t index = 0; index < pixels.size(); ++index)
      if (pixels[index] != 0) csv += std::to_string(index) + "," + std::to_string(pixels[index]) + "\n";
    return csv;
  }

  tailrace::OutputFolder folder_;
  tailrace::Mask mask_;
};

}  // namespace

int main(int argc, char** argv) {
  return tailrace::consumer_main(argc, argv,
                                 {.name = "class_histograms",
                                  .version = "1.0",
                                  .description = "Counts the pixels of each class",
                                  .argument = "FOLDER",
                                  .make_sink = [](const tailrace::ConsumerOptions& options) {
                                    return std::make_unique<ClassHistograms>(options.argument);
                                  }});
}
