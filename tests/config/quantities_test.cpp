#include "config/quantities.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tailrace {
namespace {

using testing::HasSubstr;

std::string problem_of(const Quantity& quantity) {
  const auto* text = std::get_if<std::string>(&quantity);
  return text == nullptr ? "accepted" : *text;
}

TEST(Size, TakesFractionsWithBinaryUnits) { EXPECT_EQ(parse_size_bytes("1.5 GiB"), Quantity{1610612736u}); }
TEST(Size, TakesDecimalUnits) { EXPECT_EQ(parse_size_bytes("64 MB"), Quantity{64'000'000u}); }
TEST(Size, NeedsNoSpaceBeforeItsUnit) { EXPECT_EQ(parse_size_bytes("4KiB"), Quantity{4096u}); }
TEST(Size, RoundsPartsOfAByteUp) { EXPECT_EQ(parse_size_bytes("1.0001 KiB"), Quantity{1025u}); }
TEST(Size, TakesAsManyDigitsAsFit) { EXPECT_EQ(parse_size_bytes("1.000000000000000000 B"), Quantity{1u}); }

TEST(Size, TakesTheLargest64BitNumber) {
  EXPECT_EQ(parse_size_bytes("18446744073.709551615 GB"),
            Quantity{"must be a number and a unit such as \"1.5 GiB\""});
  EXPECT_EQ(parse_size_bytes("16777215 TiB"), Quantity{std::uint64_t{16777215} << 40});
}

TEST(Size, SaysThatItOverflows) {
  EXPECT_THAT(problem_of(parse_size_bytes("16777216 TiB")), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(problem_of(parse_size_bytes("9999999999999999999 TiB")), HasSubstr("does not fit in 64 bits"));
}

TEST(Size, SaysThatItsUnitIsMissing) {
  EXPECT_THAT(problem_of(parse_size_bytes("64")), HasSubstr("the unit is missing: one of B, kB"));
}

TEST(Size, NamesAnUnknownUnit) {
  EXPECT_THAT(problem_of(parse_size_bytes("1 gib")), HasSubstr("\"gib\" is none of"));
}

class NoSize : public testing::TestWithParam<const char*> {};
TEST_P(NoSize, IsRefused) { EXPECT_THAT(problem_of(parse_size_bytes(GetParam())), HasSubstr("1.5 GiB")); }
INSTANTIATE_TEST_SUITE_P(Texts, NoSize,
                         testing::Values("", " ", "-1 GiB", "+1 GiB", "1e3 B", ".5 GiB", "5. GiB",
                                         "1.5.5 GiB", "1,5 GiB", " 1 GiB", "1 GiB ", "1\tGiB", "0x10 B",
                                         "inf", "nan B", "１ GiB", "1 ＧiB", "100000000000000000000 B", "GiB",
                                         "1 GiB\n"));

TEST(Duration, TakesItsUnits) {
  EXPECT_EQ(parse_duration_ns("250 ms"), Quantity{250'000'000u});
  EXPECT_EQ(parse_duration_ns("5 min"), Quantity{300'000'000'000u});
  EXPECT_EQ(parse_duration_ns("1.5 h"), Quantity{5'400'000'000'000u});
  EXPECT_EQ(parse_duration_ns("7 µs"), Quantity{7000u});
}

TEST(Duration, OfZeroNeedsNoUnit) { EXPECT_EQ(parse_duration_ns("0"), Quantity{0u}); }

TEST(Duration, RefusesNegativeTimesAndSizeUnits) {
  EXPECT_THAT(problem_of(parse_duration_ns("-5 s")), HasSubstr("250 ms"));
  EXPECT_THAT(problem_of(parse_duration_ns("5 MiB")), HasSubstr("\"MiB\" is none of ns"));
}

TEST(QuantityText, IsExactAndReadsBack) {
  for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{1023}, std::uint64_t{1536} << 20,
                                    std::uint64_t{3} << 40, std::numeric_limits<std::uint64_t>::max() / 10}) {
    EXPECT_EQ(parse_size_bytes(size_text(value)), Quantity{value}) << size_text(value);
    EXPECT_EQ(parse_duration_ns(duration_text(value)), Quantity{value}) << duration_text(value);
  }
  EXPECT_EQ(size_text(std::uint64_t{1536} << 20), "1536 MiB");
  EXPECT_EQ(duration_text(300'000'000'000u), "5 min");
}

TEST(QuantityText, ForPeopleHasFourDigits) {
  EXPECT_EQ(rounded_size_text(1'573'741'824), "1.466 GiB");
  EXPECT_EQ(rounded_size_text(0), "0 B");
}

}  // namespace
}  // namespace tailrace
