#include "ctl/top_screen.hpp"

#include <gmock/gmock.h>

#include "ctl/figures_text.hpp"
#include "ctl/styled_line.hpp"
#include "tests/ctl/made_report.hpp"

namespace tailrace {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A ring with so many consumers, and its rates.
RingLook look(std::uint32_t consumers = 1, const std::string& name = "seg") {
  RingReport earlier = testing::report(100);
  RingReport later = testing::report(102);
  for (RingReport* ring : {&earlier, &later}) {
    ring->name = name;
    ring->consumers.clear();
    for (std::uint32_t i = 1; i <= consumers; ++i) ring->consumers.push_back(testing::consumer(i, "masks"));
    ring->groups[0].slots = {1, 1, 3, 2, 1};
    ring->groups[0].oldest_ready_age_s = 0.4;
    ring->groups[0].oldest_lease = LeaseReport{3, 9, 1, 1, 101, 0.2};
  }
  testing::set(later.counters, Counter::kBatches, 2010);
  testing::set(later.counters, Counter::kBytes, 99'900'000'000);
  testing::set(later.counters, Counter::kStallSlotNs, 1'000'000'000);
  auto rates = rates_between(earlier, later);
  return {std::move(later), std::move(rates)};
}

std::vector<std::size_t> widths(const std::vector<std::string>& screen) {
  std::vector<std::size_t> widths;
  for (const std::string& line : screen) widths.push_back(columns(line));
  return widths;
}

TEST(TopScreen, FitsEverySize) {
  const std::vector<RingLook> rings{look(40), look(3, "other"), look(0, std::string(64, 'x'))};
  for (const std::size_t rows : {1, 2, 10, 24, 50, 200})
    for (const std::size_t width : {1, 20, 80, 200}) {
      const auto screen = top_screen("title", rings, {rows, width}, false);
      EXPECT_LE(screen.size(), rows);
      EXPECT_THAT(widths(screen), Each(::testing::Le(width)));
    }
}

TEST(TopScreen, ShowsRatesWaitsSlotsAndConsumersIn80Columns) {
  const auto screen = top_screen("title", {look()}, {24, 80}, false);
  EXPECT_THAT(screen, Contains(HasSubstr("1000 batches/s")));
  EXPECT_THAT(screen, Contains(HasSubstr("slot ████░░░░  50 %")));
  EXPECT_THAT(screen, Contains(HasSubstr("▒▓▓▓██░·  1 filling  3 ready  2 leased  1 done  1 free")));
  EXPECT_THAT(screen, Contains(HasSubstr("oldest ready 400 ms, leased 200 ms")));
  EXPECT_THAT(screen, Contains(HasSubstr("consumer pid 101")));
}

TEST(TopScreen, LeavesConsumersOutFirst) {
  const auto screen = top_screen("title", {look(40)}, {24, 80}, false);
  EXPECT_THAT(screen, Contains(HasSubstr("and 32 more")));
  EXPECT_THAT(screen, Not(Contains(HasSubstr("enlarge"))));
}

TEST(TopScreen, SaysWhatDoesNotFit) {
  const auto screen = top_screen("title", {look(), look(1, "other")}, {8, 80}, false);
  ASSERT_EQ(screen.size(), 8U);
  EXPECT_THAT(screen.back(), HasSubstr("more lines: enlarge the window"));
}

TEST(TopScreen, ShowsWhatIsWrongAboveTheFigures) {
  RingLook ring = look();
  ring.report.producer->alive = false;
  EXPECT_THAT(top_screen("title", {ring}, {24, 80}, false).at(3),
              StartsWith("  ! the producer (pid 77) died"));
}

TEST(TopScreen, ShowsARingWithoutRatesAndOneThatCannotBeRead) {
  RingLook young = look();
  young.rates.reset();
  RingReport broken;
  broken.name = "broken";
  broken.detail = "has layout version 9";
  const auto screen = top_screen("title", {young, {broken, std::nullopt}}, {40, 80}, false);
  EXPECT_THAT(screen, Contains(StartsWith("seg  open")));
  EXPECT_THAT(screen, Contains(HasSubstr("has layout version 9")));
}

TEST(TopScreen, SaysThatThereIsNone) {
  EXPECT_THAT(top_screen("title", {}, {24, 80}, false), Contains(StartsWith("no ring")));
}

TEST(TopScreen, IsColouredOnlyWhereAsked) {
  EXPECT_THAT(top_screen("title", {look()}, {24, 80}, false), Not(Contains(HasSubstr("\x1b"))));
  EXPECT_THAT(top_screen("title", {look()}, {24, 80}, true), Contains(HasSubstr("\x1b[")));
}

TEST(AStyledLine, IsCutBetweenCharactersAndItsStyleEnded) {
  StyledLine line;
  line.add("ab", Style::kPlain).add("µµµ", Style::kBold);
  EXPECT_EQ(line.width(), 5U);
  EXPECT_EQ(line.render(4, false), "abµµ");
  EXPECT_EQ(line.render(3, true), "ab\x1b[1mµ\x1b[0m");
}

TEST(FiguresText, HasThreeDigitsAndAFittingUnit) {
  EXPECT_EQ(span_text(0), "-");
  EXPECT_EQ(span_text(0.00000042), "0.42 µs");
  EXPECT_EQ(span_text(0.0304), "30.4 ms");
  EXPECT_EQ(span_text(12), "12.0 s");
  EXPECT_EQ(span_text(185), "3:05");
  EXPECT_EQ(rate_text(0.4), "0.40");
  EXPECT_EQ(rate_text(3450), "3450");
  EXPECT_EQ(byte_rate_text(18.24e9), "18.2 GB/s");
  EXPECT_EQ(byte_rate_text(999), "1.00 kB/s");
  EXPECT_EQ(percent_text(0.974), "97 %");
  EXPECT_EQ(right_in("µs", 4), "  µs");
}

}  // namespace
}  // namespace tailrace
