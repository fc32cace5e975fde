#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "producer/errors.hpp"
#include "tests/torch/model_testing.hpp"

namespace tailrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Torchscript : public testing::Test {
 protected:
  /// The names that a module with this body gives for `outputs`.
  std::vector<std::string> names_of(const std::string& body, std::vector<std::string> outputs = {"out"}) {
    load(body, std::move(outputs));
    std::vector<std::string> names;
    for (const OutputTensor& output : bench_.run()) names.push_back(output.name);
    return names;
  }

  void load(const std::string& body, std::vector<std::string> outputs = {"out"}) {
    bench_.config.outputs = std::move(outputs);
    bench_.set_script(body);
    bench_.load();
  }

  std::string error_of(const std::string& body, std::vector<std::string> outputs = {"out"}) {
    bench_.config.outputs = std::move(outputs);
    bench_.set_script(body);
    return bench_.load_error();
  }

  ModelBench bench_;
};

TEST_F(Torchscript, ASingleTensorIsCalledOut) { EXPECT_THAT(names_of("return x"), ElementsAre("out")); }

TEST_F(Torchscript, DictEntriesAreChosenInTheOrderAskedFor) {
  EXPECT_THAT(names_of("return {'a': x, 'b': x + 1, 'c': x}", {"c", "b"}), ElementsAre("c", "b"));
  EXPECT_EQ(raw_values<float>(bench_.run()[1]).at(0), 1);
}

TEST_F(Torchscript, TupleEntriesAreNumbered) {
  EXPECT_THAT(names_of("return (x, None, x + 1)", {"2", "0"}), ElementsAre("2", "0"));
}

TEST_F(Torchscript, ListEntriesAreNumbered) {
  EXPECT_THAT(names_of("return [x, x + 1]", {"1"}), ElementsAre("1"));
}

TEST_F(Torchscript, NestedEntriesAreNamedByTheirPath) {
  EXPECT_THAT(names_of("return ({'a': [x, x]}, (x, (x, 3)))", {"0.a.1", "1.1.0"}),
              ElementsAre("0.a.1", "1.1.0"));
}

TEST_F(Torchscript, TheOnlyTensorIsTakenByDefaultWhateverItsName) {
  EXPECT_THAT(names_of("return (None, {'logits': x}, 7)"), ElementsAre("1.logits"));
}

TEST_F(Torchscript, AnUnknownNameIsRefusedWithWhatThereIs) {
  EXPECT_THAT(error_of("return {'a': x, 'b': x.sum()}", {"a", "mask"}),
              AllOf(HasSubstr("\"mask\""), HasSubstr("a: float32 [2, 3]"), HasSubstr("b: float32 []")));
}

TEST_F(Torchscript, TheDefaultDoesNotGuessBetweenTwoTensors) {
  EXPECT_THAT(error_of("return {'a': x, 'b': x}"), HasSubstr("does not return"));
}

TEST_F(Torchscript, ALeafThatIsNoTensorIsNamedAsSuch) {
  EXPECT_THAT(error_of("return (x, None, 7)", {"1"}), HasSubstr("returns as None, not as a tensor"));
  EXPECT_THAT(error_of("return (x, None, 7)", {"2"}), HasSubstr("returns as int, not as a tensor"));
}

TEST_F(Torchscript, AModuleWithoutTensorsIsRefused) {
  EXPECT_THAT(error_of("return 3"), HasSubstr("out: int"));
}

TEST_F(Torchscript, AnExceptionInForwardIsToldWithoutItsStack) {
  EXPECT_THAT(error_of("assert x.dim() == 4, 'four dimensions wanted'\n    return x"),
              AllOf(HasSubstr("four dimensions wanted"), HasSubstr("float32 [2, 3]"), Not(HasSubstr("\n"))));
}

TEST_F(Torchscript, AWrongInputShapeIsToldWithBothShapes) {
  EXPECT_THAT(error_of("return torch.matmul(x, self.weight)"),
              AllOf(HasSubstr("input of float32 [2, 3]"), HasSubstr("2x3 and 2x3"), Not(HasSubstr("\n"))));
}

TEST_F(Torchscript, AFailureAfterLoadNamesTheBatch) {
  load("assert int(x[0, 0]) == 0, 'odd input'\n    return x");
  bench_.set_values<float>({1, 1, 1, 1, 1, 1});
  try {
    bench_.run(17);
    FAIL() << "the module raises";
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("batch 17"), HasSubstr("odd input")));
  }
}

TEST_F(Torchscript, AMissingFileIsNamed) {
  bench_.config.path = bench_.folder.file("not there.pt");
  EXPECT_THAT(bench_.load_error(), HasSubstr("not there.pt is not there"));
}

TEST_F(Torchscript, AFileOfAnotherKindIsNamed) {
  bench_.config.path = bench_.folder.file("text.pt");
  std::ofstream(bench_.config.path) << "this is no model";
  EXPECT_THAT(bench_.load_error(),
              AllOf(HasSubstr("text.pt cannot be loaded as TorchScript"), Not(HasSubstr("\n"))));
}

TEST_F(Torchscript, ATruncatedFileIsNamed) {
  bench_.set_script("return x");
  std::filesystem::resize_file(bench_.config.path, std::filesystem::file_size(bench_.config.path) / 2);
  EXPECT_THAT(bench_.load_error(), HasSubstr("cannot be loaded as TorchScript"));
}

TEST_F(Torchscript, AReturnedBufferDoesNotChangeUnderItsReader) {
  load("self.count += 1\n    return {'n': self.count, 'x': x}", {"n"});
  const auto first = bench_.run();
  const float before = raw_values<float>(first[0]).at(0);
  const auto second = bench_.run();
  EXPECT_EQ(raw_values<float>(first[0]).at(0), before);
  EXPECT_EQ(raw_values<float>(second[0]).at(0), before + 1);
}

TEST_F(Torchscript, OutputsThatGrowKeepTheirOwnSize) {
  load("return x.repeat(1, 1 + int(x[0, 0]))");
  bench_.set_values<float>({2, 0, 0, 0, 0, 0});
  EXPECT_THAT(bench_.run()[0].shape.sizes, ElementsAre(2, 9));
}

TEST_F(Torchscript, AnOutputThatIsMissingLaterIsRefused) {
  load("y = {'a': x}\n    if int(x[0, 0]) > 0:\n        y = {'b': x}\n    return y", {"a"});
  bench_.set_values<float>({1, 0, 0, 0, 0, 0});
  EXPECT_THROW(bench_.run(), ModelError);
}

TEST_F(Torchscript, MoreMemoryThanThereIsIsItsOwnError) {
  bench_.set_script("return x.new_empty([1 << 50])");
  EXPECT_THROW(bench_.load(), OutOfDeviceMemory);
}

TEST_F(Torchscript, NarrowPrecisionRunsUnderAutocast) {
  bench_.config.precision = Precision::kBf16;
  load("return torch.matmul(x, self.weight.t())");
  EXPECT_EQ(bench_.run()[0].shape.dtype, Dtype::kBfloat16);
}

TEST_F(Torchscript, AnOrdinaryModuleHasNothingToNote) {
  load("return x");
  EXPECT_THAT(bench_.model->notes(), IsEmpty());
}

}  // namespace
}  // namespace tailrace
