#include <xxhash.h>

#include <cmath>

#include "consumer/sinks/npy.hpp"
#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::AllOf;
using testing::batch_of;
using testing::bytes_of;
using ::testing::ElementsAre;
using testing::files_below;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::message_of;
using testing::read_file;
using testing::row_named;
using testing::TemporaryFolder;
using testing::tensor_of;
using Shape = std::vector<std::int64_t>;

SinkConfig npy_config(const TemporaryFolder& folder) {
  SinkConfig config;
  config.kind = SinkKind::kNpy;
  config.path = folder.path();
  return config;
}

Row skipped_row(std::uint64_t item) {
  Row row = row_named(item, "skipped" + std::to_string(item));
  row.skip_reason = "truncated";
  return row;
}

TEST(NpySink, WritesEachValidRowWithItsShape) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto results = make_sink(npy_config(folder))
                           ->process(batch_of({row_named(7, "a/x"), skipped_row(8), row_named(9, "y")},
                                              {tensor_of("out", Dtype::kFloat32, {3, 2}, values)}));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("a/x.npy", "y.npy"));
  EXPECT_EQ(read_file(folder / "y.npy"), npy_header("<f4", Shape{2}) + bytes_of(std::vector<float>{5, 6}));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[1].item, 9U);
  EXPECT_EQ(results[1].bytes, 8U);
  EXPECT_THAT(results[0].files, ElementsAre(folder / "a/x.npy"));
}

TEST(NpySink, GivesEachOfSeveralTensorsAFolder) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  // With dots between item and tensor, "a" + ".b.c" and "a.b" + ".c" would be one file.
  make_sink(npy_config(folder))
      ->process(batch_of(
          {row_named(0, "a"), row_named(1, "a.b")},
          {tensor_of("b.c", Dtype::kFloat32, {2}, values), tensor_of("c", Dtype::kFloat32, {2}, values)}));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("b.c/a.b.npy", "b.c/a.npy", "c/a.b.npy", "c/a.npy"));
}

TEST(NpySink, WritesOneTensorOfSeveralOnRequest) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  SinkConfig config = npy_config(folder);
  config.tensor = "aux";
  const auto batch = batch_of(
      {row_named(0, "a"), row_named(1, "b")},
      {tensor_of("out", Dtype::kFloat32, {2}, values), tensor_of("aux", Dtype::kFloat32, {2}, values)});
  make_sink(config)->process(batch);
  EXPECT_THAT(files_below(folder.path()), ElementsAre("a.npy", "b.npy"));
  config.tensor = "ou";
  EXPECT_THAT(message_of([&] { make_sink(config)->process(batch); }),
              AllOf(HasSubstr("'ou'"), HasSubstr("'out', 'aux'")));
}

TEST(NpySink, WritesABatchOfValidRowsWithTheirItems) {
  const TemporaryFolder folder;
  const std::vector<std::int16_t> values{1, 2, 3, 4, 5, 6};
  SinkConfig config = npy_config(folder);
  config.per_batch = true;
  const auto results =
      make_sink(config)->process(batch_of({row_named(70, "a"), skipped_row(71), row_named(72, "b")},
                                          {tensor_of("out", Dtype::kInt16, {3, 2}, values)}));
  EXPECT_EQ(read_file(folder / "batch-0000012.npy"),
            npy_header("<i2", Shape{2, 2}) + bytes_of(std::vector<std::int16_t>{1, 2, 5, 6}));
  EXPECT_EQ(read_file(folder / "batch-0000012.items.npy"),
            npy_header("<i8", Shape{2}) + bytes_of(std::vector<std::int64_t>{70, 72}));
  EXPECT_EQ(results.at(1).files.size(), 2U);
}

TEST(NpySink, WritesTensorsWithoutRowsOncePerBatch) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  TensorView loss = tensor_of("loss", Dtype::kFloat32, {}, values);
  loss.per_row = false;
  make_sink(npy_config(folder))
      ->process(batch_of({row_named(0, "a"), row_named(1, "b")},
                         {tensor_of("out", Dtype::kFloat32, {2}, values), loss}));
  EXPECT_THAT(files_below(folder.path()), ElementsAre("loss/batch-0000012.npy", "out/a.npy", "out/b.npy"));
  EXPECT_EQ(read_file(folder / "loss/batch-0000012.npy"),
            npy_header("<f4", {}) + bytes_of(std::vector<float>{1}));
}

TEST(NpySink, WritesNothingForABatchWithoutValidRows) {
  const TemporaryFolder folder;
  const std::vector<float> values{1};
  SinkConfig config = npy_config(folder);
  config.per_batch = true;
  EXPECT_THAT(make_sink(config)->process(
                  batch_of({skipped_row(1)}, {tensor_of("out", Dtype::kFloat32, {1}, values)})),
              IsEmpty());
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(NpySink, PutsStridedRowsIntoLogicalOrder) {
  const TemporaryFolder folder;
  const std::vector<float> channels_last{0, 10, 1, 11, 2, 12};
  make_sink(npy_config(folder))
      ->process(batch_of({row_named(0, "a")},
                         {tensor_of("out", Dtype::kFloat32, {1, 2, 3}, channels_last, {6, 1, 2})}));
  EXPECT_EQ(read_file(folder / "a.npy"),
            npy_header("<f4", Shape{2, 3}) + bytes_of(std::vector<float>{0, 1, 2, 10, 11, 12}));
}

TEST(NpySink, WidensBfloat16OrKeepsItsBits) {
  const TemporaryFolder folder;
  std::vector<std::uint16_t> values(40000, 0x3fc0);  // 1.5
  values[39999] = 0xc000;                            // -2
  std::vector<float> wide(40000, 1.5F);
  wide[39999] = -2;
  const auto batch = batch_of({row_named(0, "a")}, {tensor_of("out", Dtype::kBfloat16, {1, 40000}, values)});
  SinkConfig config = npy_config(folder);
  make_sink(config)->process(batch);
  EXPECT_EQ(read_file(folder / "a.npy"), npy_header("<f4", Shape{40000}) + bytes_of(wide));
  config.bf16_raw = true;
  make_sink(config)->process(batch);
  EXPECT_EQ(read_file(folder / "a.npy"), npy_header("<u2", Shape{40000}) + bytes_of(values));
}

TEST(NpySink, RefusesFloat8ByNameAndTypeAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::vector<std::uint8_t> values{1};
  EXPECT_THAT(
      message_of([&] {
        make_sink(npy_config(folder))
            ->process(batch_of({row_named(0, "a")}, {tensor_of("small", Dtype::kFloat8E4m3fn, {1}, values)}));
      }),
      AllOf(HasSubstr("'small'"), HasSubstr("float8_e4m3fn")));
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(NpySink, RefusesUnsafeOutputNamesAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  EXPECT_THAT(message_of([&] {
                make_sink(npy_config(folder))
                    ->process(batch_of({row_named(0, "a"), row_named(1, "../b")},
                                       {tensor_of("out", Dtype::kFloat32, {2}, values)}));
              }),
              HasSubstr("'../b.npy'"));
  EXPECT_THAT(files_below(folder.path()), IsEmpty());
}

TEST(NpySink, RefusesATensorWhoseRowsAreNotTheBatchs) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, 2};
  EXPECT_THAT(
      message_of([&] {
        make_sink(npy_config(folder))
            ->process(batch_of({row_named(0, "a")}, {tensor_of("out", Dtype::kFloat32, {2}, values)}));
      }),
      AllOf(HasSubstr("'out'"), HasSubstr("1 rows")));
}

SinkConfig checksum_config() {
  SinkConfig config;
  config.kind = SinkKind::kChecksum;
  return config;
}

TEST(ChecksumSink, HashesEachItemsBytesAsTheyLieInMemory) {
  const std::vector<std::uint8_t> planes{0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15};
  const auto last = tensor_of("out", Dtype::kUint8, {2, 2, 3}, planes, {6, 1, 2});  // channels last
  const auto results =
      make_sink(checksum_config())->process(batch_of({row_named(5, "a"), row_named(6, "b")}, {last}));
  EXPECT_EQ(results.at(0).checksum, XXH3_64bits(planes.data(), 6));
  EXPECT_EQ(results.at(1).checksum, XXH3_64bits(planes.data() + 6, 6));
}

TEST(ChecksumSink, HashesItemsThatAreInterleavedInLogicalOrder) {
  const std::vector<float> rows{0, 1, 2, 3, 4, 5};
  const std::vector<float> columns{0, 3, 1, 4, 2, 5};
  const auto sink = make_sink(checksum_config());
  const auto straight = sink->process(
      batch_of({row_named(5, "a"), row_named(6, "b")}, {tensor_of("out", Dtype::kFloat32, {2, 3}, rows)}));
  const auto strided = sink->process(batch_of({row_named(5, "a"), row_named(6, "b")},
                                              {tensor_of("out", Dtype::kFloat32, {2, 3}, columns, {1, 2})}));
  ASSERT_EQ(straight.size(), 2U);
  EXPECT_EQ(straight[1].checksum, XXH3_64bits(rows.data() + 3, 12));
  EXPECT_EQ(straight[1].bytes, 12U);
  EXPECT_EQ(strided[0].checksum, straight[0].checksum);
  EXPECT_EQ(strided[1].checksum, straight[1].checksum);
}

TEST(ChecksumSink, CoversAllTensorsThatHaveRows) {
  const std::vector<std::uint8_t> values{1, 2, 3, 4};
  TensorView loss = tensor_of("loss", Dtype::kUint8, {4}, values);
  loss.per_row = false;
  auto batch = batch_of({row_named(0, "a")}, {tensor_of("x", Dtype::kUint8, {1, 2}, values), loss,
                                              tensor_of("y", Dtype::kUint8, {1, 4}, values)});
  const std::vector<std::uint8_t> expected{1, 2, 1, 2, 3, 4};
  EXPECT_EQ(make_sink(checksum_config())->process(batch).at(0).checksum, XXH3_64bits(expected.data(), 6));
  SinkConfig only_loss = checksum_config();
  only_loss.tensor = "loss";
  EXPECT_THROW(make_sink(only_loss)->process(batch), std::runtime_error);
}

TEST(NullSink, CountsWhatItSwallows) {
  const std::vector<double> values(100);
  SinkConfig config;
  const auto results = make_sink(config)->process(
      batch_of({row_named(0, "a"), skipped_row(1)}, {tensor_of("out", Dtype::kFloat64, {2, 50}, values)}));
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].bytes, 400U);
  EXPECT_THAT(results[0].files, IsEmpty());
}

TEST(Sinks, SayThatABatchHasNoTensor) {
  EXPECT_THAT(message_of([] { make_sink(SinkConfig{})->process(batch_of({row_named(0, "a")}, {})); }),
              HasSubstr("no tensor"));
}

}  // namespace
}  // namespace tailrace
