// .npy files: the header's parser, and the rows that a source reads from such a file.

#include <spdlog/spdlog.h>

#include <stdexcept>

#include "consumer/sinks/npy.hpp"
#include "producer/sources/array_source.hpp"
#include "producer/sources/npy_header.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/sources/npy_text.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace::fuzzing {
namespace {

constexpr std::size_t kMaxRowBytes = 1 << 20;

std::uint64_t bytes_of(const NpyHeader& header) {
  std::uint64_t bytes = info_of(header.dtype).bytes;
  for (const std::int64_t size : header.shape) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

void check_header(const NpyHeader& header, std::size_t file_bytes) {
  require(header.data_offset <= file_bytes, "the data start within the file");
  require(header.shape.size() <= kMaxNpyRank, "the rank is in range");
  for (const std::int64_t size : header.shape) require(size >= 0, "no size is negative");
  require(header.data_bytes == bytes_of(header), "data_bytes is the product of the sizes");
  require(header.data_offset + header.data_bytes <= INT64_MAX, "the end is a file offset");
}

// What numpy.save would write for the same array is read as the same array.
void check_written_again(const NpyHeader& header) {
  const std::string text = npy_header(info_of(header.dtype).numpy_descr, header.shape);
  const NpyHeader again = parse_npy_header(std::as_bytes(std::span(text)));
  require(again.dtype == header.dtype && again.shape == header.shape, "a written header is read back");
}

void read_rows(std::span<const std::byte> input) {
  static const TempFolder folder;
  SourceConfig config;
  config.path = folder.write("rows.npy", text_of(input)).string();
  try {
    const ArraySource source(config);
    const std::uint64_t count = source.item_count();
    require(count > 0, "a source has items");
    const std::size_t row_bytes = source.spec().item_bytes();
    require(row_bytes <= input.size(), "a row is not longer than its file");
    if (row_bytes > kMaxRowBytes) return;
    std::vector<std::byte> bytes(row_bytes);
    for (const std::uint64_t index : {std::uint64_t{0}, count - 1}) {
      Row row;
      source.read(index, bytes, row);
      require(row.valid(), "a row of a whole file is there: " + row.skip_reason);
      require(row.name.size() + row.output_name.size() <= source.max_name_bytes(), "max_name_bytes holds");
    }
  } catch (const std::invalid_argument&) {  // NOLINT(bugprone-empty-catch): no rows, or truncated
  }
}

}  // namespace

bool run_one(std::span<const std::byte> input) {
  spdlog::set_level(spdlog::level::off);
  NpyHeader header;
  try {
    header = parse_npy_header(input.first(std::min(input.size(), kMaxNpyHeaderBytes)));
  } catch (const std::invalid_argument&) {
    return false;
  }
  check_header(header, input.size());
  check_written_again(header);
  read_rows(input);
  return true;
}

std::vector<std::string> seeds() {
  const auto file = [](int major, const std::string& descr, const std::string& shape, std::size_t bytes,
                       bool fortran = false) {
    return npy_file(major, npy_header_text(descr, shape, fortran), std::string(bytes, 'x'));
  };
  return {file(1, "<f4", "(3, 4)", 48),
          file(2, "|u1", "(2, 2, 3)", 12),
          file(3, "<i8", "(5,)", 40),
          file(1, "<f2", "(3, 2, 2)", 24, true),
          file(1, "|b1", "()", 1),
          file(1, "<c16", "(0, 7)", 0),
          file(2, "<u2", "(1, 9223)", 18'446),
          file(1, "<f8", "(1152921504606846975, 0)", 0)};
}

std::vector<std::string> dictionary() {
  std::vector<std::string> words{"descr", "fortran_order", "shape", "True", "False", "9223372036854775807"};
  for (const DtypeInfo& info : kDtypes)
    if (!info.numpy_descr.empty()) words.emplace_back(info.numpy_descr);
  return words;
}

}  // namespace tailrace::fuzzing
