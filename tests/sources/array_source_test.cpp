#include "producer/sources/array_source.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <numeric>
#include <stdexcept>

#include "tests/sources/npy_text.hpp"
#include "tests/sources/temp_folder.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

// An array of int16 that counts 0, 1, 2 … in the order of the file.
std::string counting(const std::string& shape, std::size_t count, bool fortran = false,
                     std::int16_t first = 0) {
  std::vector<std::int16_t> values(count);
  std::iota(values.begin(), values.end(), first);
  const std::string data(reinterpret_cast<const char*>(values.data()), count * sizeof(std::int16_t));
  return npy_file(1, npy_header_text("<i2", shape, fortran), data);
}

SourceConfig config_of(const fs::path& path) {
  SourceConfig config;
  config.kind = SourceKind::kArrays;
  config.path = path.string();
  return config;
}

std::vector<std::int16_t> read(const Source& source, std::uint64_t index, Row& row) {
  std::vector<std::int16_t> values(source.spec().item_bytes() / sizeof(std::int16_t), -1);
  source.read(index, std::as_writable_bytes(std::span(values)), row);
  return values;
}

auto refuses(const fs::path& path, const std::string& a, const std::string& b = "") {
  EXPECT_THAT(
      [&] { ArraySource source(config_of(path)); },
      ThrowsMessage<std::invalid_argument>(AllOf(HasSubstr(path.string()), HasSubstr(a), HasSubstr(b))));
}

TEST(ArraySource, GivesRowsOfOneFile) {
  const TempFolder folder;
  const ArraySource source(config_of(folder.write("x.npy", counting("(3, 2, 2)", 12))));
  EXPECT_EQ(source.item_count(), 3U);
  EXPECT_EQ(source.spec().dtype, Dtype::kInt16);
  EXPECT_THAT(source.spec().item_shape, ElementsAre(2, 2));
  Row row;
  EXPECT_THAT(read(source, 1, row), ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(row.name, "x.npy:1");
  EXPECT_EQ(row.output_name, "x/000001");
  EXPECT_TRUE(row.valid());
}

TEST(ArraySource, CountsRowsThroughAllFilesOfAFolder) {
  const TempFolder folder;
  folder.write("b.npy", counting("(2, 2)", 4, false, 100));
  folder.write("a.npy", counting("(1, 2)", 2));
  folder.write("empty.npy", counting("(0, 2)", 0));
  folder.write("sub/c.npy", counting("(1, 2)", 2, false, 50));
  const ArraySource source(config_of(folder.path()));
  ASSERT_EQ(source.item_count(), 4U);
  Row row;
  EXPECT_THAT(read(source, 0, row), ElementsAre(0, 1));
  EXPECT_THAT(read(source, 2, row), ElementsAre(102, 103));
  EXPECT_EQ(row.name, "b.npy:1");
  EXPECT_THAT(read(source, 3, row), ElementsAre(50, 51));
  EXPECT_EQ(row.output_name, "sub/c/000000");
}

TEST(ArraySource, GathersRowsInFortranOrder) {
  const TempFolder folder;
  const ArraySource source(config_of(folder.write("f.npy", counting("(3, 2, 4)", 24, true))));
  Row row;
  // Element (r, i, j) of a Fortran array lies at r + 3 i + 6 j.
  EXPECT_THAT(read(source, 1, row), ElementsAre(1, 7, 13, 19, 4, 10, 16, 22));
}

TEST(ArraySource, TakesElementsOfAOneDimensionalArrayAsItems) {
  const TempFolder folder;
  const ArraySource source(config_of(folder.write("x.npy", counting("(5,)", 5))));
  EXPECT_THAT(source.spec().item_shape, IsEmpty());
  Row row;
  EXPECT_THAT(read(source, 4, row), ElementsAre(4));
}

TEST(ArraySource, KeepsWholeListIndexesInAShard) {
  const TempFolder folder;
  SourceConfig config = config_of(folder.write("x.npy", counting("(5,)", 5)));
  config.shard_index = 1;
  config.shard_count = 2;
  const ArraySource source(config);
  EXPECT_EQ(source.item_count(), 2U);
  Row row;
  EXPECT_THAT(read(source, 1, row), ElementsAre(3));
  EXPECT_EQ(row.item, 3U);
}

TEST(ArraySource, SkipsRowsOfAFileThatShrankSinceTheStart) {
  const TempFolder folder;
  const fs::path file = folder.write("x.npy", counting("(3, 2)", 6));
  const ArraySource source(config_of(file));
  fs::resize_file(file, fs::file_size(file) - 4);
  Row row;
  EXPECT_THAT(read(source, 0, row), Each(0));
  EXPECT_THAT(row.skip_reason, HasSubstr("changed"));
  EXPECT_EQ(row.skip_kind, SkipKind::kUnreadable);
}

TEST(ArraySource, SkipsRowsOfAFileThatVanished) {
  const TempFolder folder;
  const fs::path file = folder.write("x.npy", counting("(3, 2)", 6));
  const ArraySource source(config_of(file));
  fs::remove(file);
  Row row;
  EXPECT_THAT(read(source, 2, row), Each(0));
  EXPECT_THAT(row.skip_reason, HasSubstr("No such file"));
  EXPECT_EQ(row.name, "x.npy:2");
}

TEST(ArraySource, NamesBothSizesOfATruncatedFile) {
  const TempFolder folder;
  refuses(folder.write("x.npy", counting("(100, 2)", 199)), "528 bytes", "has 526");
}

TEST(ArraySource, NamesBothFilesWhoseRowsDiffer) {
  const TempFolder folder;
  folder.write("a.npy", counting("(1, 2)", 2));
  folder.write("b.npy", counting("(1, 3)", 3));
  EXPECT_THAT([&] { ArraySource source(config_of(folder.path())); },
              ThrowsMessage<std::invalid_argument>(
                  AllOf(HasSubstr("a.npy has int16 [2]"), HasSubstr("b.npy has int16 [3]"))));
}

TEST(ArraySource, RefusesWhatHasNoRows) {
  const TempFolder folder;
  refuses(folder.path(), "no rows");
  refuses(folder.write("scalar.npy", counting("()", 1)), "no dimensions");
  refuses(folder.write("thin.npy", counting("(4, 0)", 0)), "no elements");
  refuses(folder.write("text.npy", "hello"), "not a .npy file");
  refuses(folder.path() / "missing.npy", "No such file");
}

TEST(ArraySource, HasADigestThatNoticesAnotherList) {
  const TempFolder folder;
  folder.write("a.npy", counting("(1, 2)", 2));
  const std::uint64_t one = ArraySource(config_of(folder.path())).digest();
  EXPECT_EQ(one, ArraySource(config_of(folder.path())).digest());
  folder.write("b.npy", counting("(1, 2)", 2));
  EXPECT_NE(one, ArraySource(config_of(folder.path())).digest());
}

}  // namespace
}  // namespace tailrace
