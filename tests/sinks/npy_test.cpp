#include "consumer/sinks/npy.hpp"

#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// What numpy.save(np.zeros((3, 4), "<f4")) writes.
TEST(NpyHeader, IsByteForByteNumpys) {
  const std::string expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                               "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }" +
                               std::string(58, ' ') + "\n";
  EXPECT_EQ(npy_header("<f4", std::vector<std::int64_t>{3, 4}), expected);
}

TEST(NpyHeader, WritesTuplesAsPythonDoes) {
  EXPECT_THAT(npy_header("|b1", {}), HasSubstr("'shape': (), }"));
  EXPECT_THAT(npy_header("|b1", std::vector<std::int64_t>{7}), HasSubstr("'shape': (7,), }"));
  EXPECT_THAT(npy_header("|b1", std::vector<std::int64_t>{0, 5}), HasSubstr("'shape': (0, 5), }"));
  EXPECT_THAT(npy_header("<c16", std::vector<std::int64_t>{INT64_MAX}), HasSubstr("(9223372036854775807,)"));
}

TEST(NpyHeader, IsAlwaysPaddedTo64Bytes) {
  for (std::size_t rank = 0; rank <= 64; ++rank)
    EXPECT_EQ(npy_header("<f8", std::vector<std::int64_t>(rank, 1)).size() % 64, 0U) << rank;
}

TEST(NpyHeader, UsesFormat2WhereFormat1IsTooShort) {
  const std::string header = npy_header("<f8", std::vector<std::int64_t>(30000, 1));
  EXPECT_THAT(header, StartsWith(std::string("\x93NUMPY\x02\x00", 8)));
  std::uint32_t length = 0;
  std::memcpy(&length, header.data() + 8, 4);
  EXPECT_EQ(header.size(), 12 + length);
  EXPECT_EQ(header.size() % 64, 0U);
}

}  // namespace
}  // namespace tailrace
