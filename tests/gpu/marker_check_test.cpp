#include "tests/gpu/marker_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "producer/torch/synthetic_values.hpp"

namespace tailrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Batches as the synthetic model computes them, in plain memory.
class Markers : public testing::Test {
 protected:
  [[nodiscard]] BatchView batch(std::uint64_t number) {
    const std::uint64_t rows = std::min(kJob.batch_size, kJob.items - number * kJob.batch_size);
    values_.clear();
    for (std::uint64_t row = 0; row < rows; ++row)
      for (std::uint64_t position = 0; position < kJob.item_elements(); ++position)
        values_.push_back(
            static_cast<float>(synthetic_value(Dtype::kFloat32, BatchNumber{number}, row, position)));
    BatchView view{BatchNumber{number}, std::vector<Row>(rows), {}};
    for (std::uint64_t row = 0; row < rows; ++row) view.rows[row].item = number * kJob.batch_size + row;
    const TensorShape shape{Dtype::kFloat32, {static_cast<std::int64_t>(rows), 5, 7}, {35, 7, 1}};
    view.tensors.push_back({"out", shape, true, std::as_bytes(std::span(values_))});
    return view;
  }

  const MarkerCheck::Job kJob{11, 4, {5, 7}};  // the last batch has three rows
  MarkerCheck check_{kJob};
  std::vector<float> values_;
};

TEST_F(Markers, ThatAreRightAreFoundRight) {
  for (std::uint64_t number = 0; number < 3; ++number) check_.check(batch(number));
  EXPECT_EQ(check_.wrong_elements(), 0U);
  EXPECT_EQ(check_.checked_elements(), 11U * 35U);
  EXPECT_THAT(check_.lost_or_doubled(), IsEmpty());
  EXPECT_THAT(check_.faults(), IsEmpty());
}

TEST_F(Markers, OfWhichOneIsWrongAreNamed) {
  const BatchView view = batch(1);
  values_[3 * 35 + 34] = 0;
  check_.check(view);
  EXPECT_EQ(check_.wrong_elements(), 1U);
  EXPECT_THAT(check_.faults(),
              ElementsAre(HasSubstr("batch 1, row 3: 1 of 35 elements are wrong; the first is 34, 0.0")));
}

TEST_F(Markers, ThatAreNoNumbersAreWrong) {
  const BatchView view = batch(0);
  values_[0] = std::numeric_limits<float>::quiet_NaN();
  check_.check(view);
  EXPECT_EQ(check_.wrong_elements(), 1U);
}

TEST_F(Markers, OfAnotherBatchAreAllWrong) {
  BatchView view = batch(0);
  view.number = BatchNumber{1};
  for (Row& row : view.rows) row.item += 4;
  check_.check(view);
  EXPECT_EQ(check_.wrong_elements(), 4U * 35U);
}

TEST_F(Markers, ThatComeTwiceOrNeverAreTold) {
  check_.check(batch(0));
  check_.check(batch(2));
  check_.check(batch(2));
  EXPECT_THAT(check_.lost_or_doubled(), ElementsAre(1, 2));
}

TEST_F(Markers, WithTooFewRowsOrOfNoSuchBatchAreFaults) {
  BatchView view = batch(0);
  view.rows.pop_back();
  check_.check(view);
  view.number = BatchNumber{3};
  check_.check(view);
  EXPECT_THAT(check_.faults(), ElementsAre(HasSubstr("other rows"), HasSubstr("beyond the job's 3")));
}

TEST_F(Markers, OfAnotherTypeAreAFault) {
  BatchView view = batch(0);
  view.tensors[0].shape.dtype = Dtype::kInt32;
  check_.check(view);
  EXPECT_THAT(check_.faults(), ElementsAre(HasSubstr("is not one contiguous float32 tensor of 560 bytes")));
}

TEST(MarkerCount, GoesOnAfterTheModulus) {
  const auto modulus = static_cast<std::uint32_t>(synthetic_modulus(Dtype::kFloat32));
  const std::vector<float> values{static_cast<float>(modulus - 2), static_cast<float>(modulus - 1), 0, 1, 2};
  EXPECT_EQ(count_wrong_markers(values, modulus - 2), 0U);
  EXPECT_EQ(count_wrong_markers(values, modulus - 1), 5U);
}

}  // namespace
}  // namespace tailrace
