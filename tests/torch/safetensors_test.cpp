#include "producer/torch/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  /// A file of the given header and `data_bytes` bytes 0, 1, 2, …
  std::string write(const std::string& header, std::size_t data_bytes,
                    std::optional<std::uint64_t> announced = std::nullopt) {
    std::string path = folder_.file("weights.safetensors");
    std::ofstream file(path, std::ios::binary);
    const std::uint64_t length = announced.value_or(header.size());
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << header;
    for (std::size_t i = 0; i < data_bytes; ++i) file.put(static_cast<char>(i));
    return path;
  }

  std::string error_of(const std::string& header, std::size_t data_bytes,
                       std::optional<std::uint64_t> announced = std::nullopt) {
    const std::string path = write(header, data_bytes, announced);
    try {
      read_safetensors(path);
    } catch (const ModelError& error) {
      return error.what();
    }
    return "no error";
  }

  TemporaryFolder folder_;
};

TEST_F(Safetensors, TensorsAreReadByName) {
  const auto tensors = read_safetensors(write(R"({"__metadata__":{"format":"pt"},
                "b":{"dtype":"U8","shape":[2,2],"data_offsets":[4,8]},
                "a":{"dtype":"I16","shape":[2],"data_offsets":[0,4]},
                "none":{"dtype":"F32","shape":[0,3],"data_offsets":[8,8]}})",
                                              8));
  ASSERT_EQ(tensors.size(), 3U);
  EXPECT_EQ(tensors.at("a").const_data_ptr<std::int16_t>()[1], 0x0302);
  EXPECT_EQ(tensors.at("b").const_data_ptr<std::uint8_t>()[3], 7);
  EXPECT_EQ(tensors.at("none").numel(), 0);
}

TEST_F(Safetensors, AHeaderLongerThanTheFileIsRefused) {
  EXPECT_THAT(error_of("{}", 0, 3), HasSubstr("announces a header of 3 bytes"));
  EXPECT_THAT(error_of("{}", 0, UINT64_MAX), HasSubstr("announces a header"));
}

TEST_F(Safetensors, AFileShorterThanTheLengthIsRefused) {
  const std::string path = folder_.file("short.safetensors");
  std::ofstream(path) << "abc";
  EXPECT_THROW(read_safetensors(path), ModelError);
}

TEST_F(Safetensors, AHeaderThatIsNoJsonObjectIsRefused) {
  EXPECT_THAT(error_of("{\"a\":", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("[1]", 0), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(std::string(100'000, '['), 0), HasSubstr("not a JSON object"));
}

TEST_F(Safetensors, ATensorOutsideTheFileIsRefused) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}})", 8),
              HasSubstr("0 to 9 of 8"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[3,2]}})", 8), HasSubstr("3 to 2"));
}

TEST_F(Safetensors, AShapeThatDoesNotFitItsBytesIsRefused) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8),
              HasSubstr("needs 12"));
}

TEST_F(Safetensors, AShapeThatOverflowsIsRefused) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})", 8),
              HasSubstr("overflows"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[4611686018427387904,4,0],"data_offsets":[0,0]}})", 8),
              HasSubstr("overflows"));
}

TEST_F(Safetensors, TensorsThatOverlapAreRefused) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},
                           "b":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}})",
                       8),
              HasSubstr("overlap"));
}

TEST_F(Safetensors, NumbersThatAreNoneAreRefused) {
  for (const std::string bad : {"-1", "1.5", "\"1\"", "null", "18446744073709551615"})
    EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[)" + bad + R"(],"data_offsets":[0,1]}})", 8),
                HasSubstr("bad number in shape"));
}

TEST_F(Safetensors, MissingFieldsAreNamed) {
  EXPECT_THAT(error_of(R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 8), HasSubstr("a has no dtype"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 8), HasSubstr("a has no shape"));
  EXPECT_THAT(error_of(R"({"a":{"dtype":"U8","shape":[1]}})", 8), HasSubstr("a has no data_offsets"));
  EXPECT_THAT(error_of(R"({"a":7})", 8), HasSubstr("a is not an object"));
}

TEST_F(Safetensors, AnUnknownDtypeIsNamed) {
  EXPECT_THAT(error_of(R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}})", 8), HasSubstr("dtype F4"));
}

}  // namespace
}  // namespace tailrace
