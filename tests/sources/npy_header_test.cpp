#include "producer/sources/npy_header.hpp"

#include <gmock/gmock.h>

#include <random>
#include <stdexcept>

#include "tests/sources/npy_text.hpp"

namespace tailrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

NpyHeader parse(const std::string& file) { return parse_npy_header(std::as_bytes(std::span(file))); }

auto refuses(const std::string& reason) { return ThrowsMessage<std::invalid_argument>(HasSubstr(reason)); }

TEST(NpyHeader, IsReadInAllThreeVersions) {
  for (const int version : {1, 2, 3}) {
    const NpyHeader header = parse(npy_file(version, npy_header_text("<f4", "(7, 3)"), ""));
    EXPECT_EQ(header.dtype, Dtype::kFloat32);
    EXPECT_THAT(header.shape, ElementsAre(7, 3));
    EXPECT_FALSE(header.fortran_order);
    EXPECT_EQ(header.data_offset % 64, 0U);
    EXPECT_EQ(header.data_bytes, 84U);
  }
}

TEST(NpyHeader, TakesKeysInAnyOrderAndEitherQuote) {
  const NpyHeader header = parse(npy_file(1, R"({"shape":(2,),'fortran_order':True,"descr":"|u1"})", ""));
  EXPECT_TRUE(header.fortran_order);
  EXPECT_THAT(header.shape, ElementsAre(2));
}

TEST(NpyHeader, KnowsEveryDtypeThatNumpyHas) {
  for (const DtypeInfo& info : kDtypes) {
    if (info.numpy_descr.empty()) continue;
    EXPECT_EQ(parse(npy_file(1, npy_header_text(std::string(info.numpy_descr), "(1,)"), "")).dtype,
              info.dtype);
  }
}

TEST(NpyHeader, SaysHowToGetRidOfBigEndian) {
  EXPECT_THAT([] { parse(npy_file(1, npy_header_text(">f4", "(1,)"), "")); }, refuses("newbyteorder"));
}

TEST(NpyHeader, RefusesDtypesThatAreNoNumbers) {
  for (const char* descr : {"|O", "<U5", "|V2", "<M8[ns]", "", "<f3", "f4"})
    EXPECT_THAT([&] { parse(npy_file(1, npy_header_text(descr, "(1,)"), "")); }, refuses("not supported"));
  EXPECT_THAT(
      [] { parse(npy_file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "")); },
      refuses("structured"));
}

TEST(NpyHeader, RefusesWhatIsNoNpyFile) {
  EXPECT_THAT([] { parse(""); }, refuses("not a .npy file"));
  EXPECT_THAT([] { parse("PK\x03\x04 an .npz archive"); }, refuses("not a .npy file"));
  EXPECT_THAT([] { parse("\x93NUMPY"); }, refuses("ends within"));
  EXPECT_THAT([] { parse(std::string("\x93NUMPY\x01\x00\x10", 9)); }, refuses("ends within"));
  EXPECT_THAT([] { parse(std::string("\x93NUMPY\x04\x00\x10\x00", 10)); }, refuses("version 4.0"));
  EXPECT_THAT([] { parse(std::string("\x93NUMPY\x01\x01\x10\x00", 10)); }, refuses("version 1.1"));
}

TEST(NpyHeader, RefusesALengthBeyondTheFileOrTheLimit) {
  EXPECT_THAT([] { parse(std::string("\x93NUMPY\x01\x00\x76\x00{'descr'", 18)); },
              refuses("claims 118 bytes"));
  EXPECT_THAT([] { parse(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)); },
              refuses("claims 4294967295"));
}

TEST(NpyHeader, RefusesTextThatNumpyWouldNotWrite) {
  const std::vector<std::string> texts{
      "",
      "{",
      "{}",
      "[]",
      "{'descr': '<f4'",
      "{'descr': '<f4}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': [1]}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'extra': 1}",
      "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}",
  };
  for (const std::string& text : texts)
    EXPECT_THROW(parse(npy_file(1, text, "")), std::invalid_argument) << text;
}

TEST(NpyHeader, RefusesSizesThatOverflow) {
  EXPECT_THAT([] { parse(npy_file(1, npy_header_text("<f8", "(99999999999999999999,)"), "")); },
              refuses("overflows"));
  EXPECT_THAT([] { parse(npy_file(1, npy_header_text("<f8", "(4294967296, 4294967296)"), "")); },
              refuses("overflow"));
  EXPECT_THAT([] { parse(npy_file(1, npy_header_text("|u1", "(9223372036854775807,)"), "")); },
              refuses("beyond 64 bits"));
}

TEST(NpyHeader, RefusesMoreThan32Dimensions) {
  std::string shape = "(";
  for (int i = 0; i < 33; ++i) shape += "1, ";
  EXPECT_THAT([&] { parse(npy_file(1, npy_header_text("<f4", shape + ")"), "")); }, refuses("32 dimensions"));
}

TEST(NpyHeader, NeverCrashesOnDamagedBytes) {
  const std::string good = npy_file(1, npy_header_text("<f4", "(10, 20)"), "");
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string damaged = good.substr(0, random() % 8 == 0 ? random() % good.size() : good.size());
    for (unsigned count = random() % 4; count > 0 && !damaged.empty(); --count)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const NpyHeader header = parse(damaged);
      EXPECT_LE(header.data_offset, damaged.size());
    } catch (const std::invalid_argument&) {
    }
  }
}

}  // namespace
}  // namespace tailrace
