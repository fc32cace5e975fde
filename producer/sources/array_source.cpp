#include "producer/sources/array_source.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "producer/sources/file_list.hpp"
#include "producer/sources/list_digest.hpp"
#include "producer/sources/output_names.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 1> kArraySuffixes{".npy"};
constexpr std::size_t kMinRowDigits = 6;

std::string describe_rows(const NpyHeader& header) {
  std::string text(info_of(header.dtype).name);
  text += " [";
  for (std::size_t i = 1; i < header.shape.size(); ++i)
    text += (i > 1 ? ", " : "") + std::to_string(header.shape[i]);
  return text + "]";
}

NpyHeader read_header(const RegularFile& file) {
  std::vector<std::byte> start(std::min<std::uint64_t>(file.size_bytes(), kMaxNpyHeaderBytes));
  start.resize(file.read_at(0, start));
  NpyHeader header = parse_npy_header(start);
  if (header.shape.empty())
    throw std::invalid_argument("the array has no dimensions; its first axis would count the items");
  if (std::any_of(header.shape.begin() + 1, header.shape.end(), [](std::int64_t size) { return size == 0; }))
    throw std::invalid_argument("the rows have no elements: " + describe_rows(header));
  if (header.data_offset + header.data_bytes > file.size_bytes())
    throw std::invalid_argument("truncated: the header says " +
                                std::to_string(header.data_offset + header.data_bytes) +
                                " bytes, the file has " + std::to_string(file.size_bytes()));
  return header;
}

void read_exactly(const RegularFile& file, std::uint64_t offset, std::span<std::byte> bytes) {
  const std::size_t count = file.read_at(offset, bytes);
  if (count < bytes.size())
    throw BadItem("truncated: the row needs bytes up to " + std::to_string(offset + bytes.size()) +
                  ", the file ends at " + std::to_string(offset + count));
}

// Calls visit(rank of an element in row-major order, its rank in column-major order) for a whole row.
template <typename Visit>
void for_each_element(std::span<const std::int64_t> sizes, Visit visit) {
  std::vector<std::int64_t> at(sizes.size());
  std::vector<std::uint64_t> strides(sizes.size());
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    strides[axis] = count;
    count *= static_cast<std::uint64_t>(sizes[axis]);
  }
  std::uint64_t column_major = 0;
  for (std::uint64_t row_major = 0; row_major < count; ++row_major) {
    visit(row_major, column_major);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      column_major += strides[axis];
      if (++at[axis] < sizes[axis]) break;
      column_major -= strides[axis] * static_cast<std::uint64_t>(sizes[axis]);
      at[axis] = 0;
    }
  }
}

}  // namespace

ArraySource::Identity::Identity(const struct stat& status)
    : device(status.st_dev),
      inode(status.st_ino),
      size(status.st_size),
      modified_s(status.st_mtim.tv_sec),
      modified_ns(status.st_mtim.tv_nsec) {}

ArraySource::ArraySource(const SourceConfig& config) : shard_(config) {
  const fs::path path = config.path;
  if (fs::is_directory(path))
    for (const std::string& name : list_folder(path, kArraySuffixes)) add(open_array(path / name, name));
  else
    add(open_array(path, path.filename().native()));
  if (files_.empty())
    throw std::invalid_argument("source.path: no rows to read in " + path.string() +
                                " (looked for .npy files in all sub-folders)");
  name_outputs();
  ListDigest digest;
  digest.add("arrays");
  digest.add(spec_);
  for (const ArrayFile& file : files_) {
    digest.add(file.name);
    digest.add(file.rows());
    max_name_bytes_ =
        std::max(max_name_bytes_, file.name.size() + file.output_name.size() + 2 * (1 + digits(file)));
  }
  digest_ = digest.value();
}

ArraySource::ArrayFile ArraySource::open_array(const fs::path& path, const std::string& name) {
  try {
    const RegularFile file(path);
    return {.name = name,
            .output_name = {},
            .path = path,
            .header = read_header(file),
            .identity = Identity(file.status())};
  } catch (const BadItem& problem) {
    throw std::invalid_argument("source.path: " + path.string() + ": " + problem.what());
  } catch (const std::invalid_argument& problem) {
    throw std::invalid_argument("source.path: " + path.string() + ": " + problem.what());
  }
}

void ArraySource::add(ArrayFile file) {
  if (file.rows() == 0) return;
  const NpyHeader& header = file.header;
  if (files_.empty())
    spec_ = {.dtype = header.dtype, .item_shape = {header.shape.begin() + 1, header.shape.end()}};
  else
    check_same_rows(file);
  if (header.fortran_order && header.shape.size() > 1)
    spdlog::warn(
        "{} is in Fortran order: its rows are gathered element by element, which is slow; save "
        "numpy.ascontiguousarray(a) to avoid it",
        file.path.string());
  file.first_item = row_count_;
  if (__builtin_add_overflow(row_count_, file.rows(), &row_count_))
    throw std::invalid_argument("source.path: the files have more rows than 64 bits can count");
  files_.push_back(std::move(file));
}

void ArraySource::check_same_rows(const ArrayFile& file) const {
  const ArrayFile& first = files_.front();
  const bool same = first.header.dtype == file.header.dtype &&
                    std::equal(first.header.shape.begin() + 1, first.header.shape.end(),
                               file.header.shape.begin() + 1, file.header.shape.end());
  if (!same)
    throw std::invalid_argument(
        "source.path: all files must have rows of one dtype and shape: " + first.path.string() + " has " +
        describe_rows(first.header) + ", " + file.path.string() + " has " + describe_rows(file.header));
}

void ArraySource::name_outputs() {
  std::vector<std::string> names;
  names.reserve(files_.size());
  for (const ArrayFile& file : files_) names.push_back(file.name);
  const std::vector<std::string> outputs = output_names(names);
  for (std::size_t i = 0; i < files_.size(); ++i) files_[i].output_name = outputs[i];
}

std::size_t ArraySource::digits(const ArrayFile& file) {
  return std::max(kMinRowDigits, std::to_string(file.rows() - 1).size());
}

const ArraySource::ArrayFile& ArraySource::file_of(std::uint64_t item) const {
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), item,
                       [](std::uint64_t wanted, const ArrayFile& file) { return wanted < file.first_item; });
  return *std::prev(after);
}

void ArraySource::describe(std::uint64_t index, Row& row) const {
  const std::uint64_t item = shard_.item(index);
  const ArrayFile& file = file_of(item);
  const std::string number = std::to_string(item - file.first_item);
  row = Row{};
  row.item = item;
  row.name = file.name + ':' + number;
  row.output_name = file.output_name + '/' + std::string(digits(file) - number.size(), '0') + number;
}

void ArraySource::read(std::uint64_t index, std::span<std::byte> bytes, Row& row) const {
  describe(index, row);
  const ArrayFile& file = file_of(row.item);
  try {
    read_row(file, row.item - file.first_item, bytes);
  } catch (const BadItem& problem) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    row.skip_reason = problem.what();
    row.skip_kind = problem.kind();
  }
}

void ArraySource::read_row(const ArrayFile& array, std::uint64_t row, std::span<std::byte> bytes) {
  const RegularFile file(array.path);
  if (Identity(file.status()) != array.identity)
    throw BadItem("the file was changed since the start", SkipKind::kUnreadable);
  const NpyHeader& header = array.header;
  if (!header.fortran_order) {
    read_exactly(file, header.data_offset + row * bytes.size(), bytes);
    return;
  }
  const std::size_t element = info_of(header.dtype).bytes;
  const auto row_sizes = std::span(header.shape).subspan(1);
  for_each_element(row_sizes, [&](std::uint64_t row_major, std::uint64_t column_major) {
    read_exactly(file, header.data_offset + (column_major * array.rows() + row) * element,
                 bytes.subspan(row_major * element, element));
  });
}

}  // namespace tailrace
