#include "tests/gpu/written_outputs.hpp"

namespace tailrace {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class CudaGraphs : public WrittenOutputs {};

TEST_F(CudaGraphs, GiveTheSameFilesAsLaunchesOneByOne) {
  write_model(
      "y = x * 3 + 1\n"
      "    for i in range(20):\n"
      "        y = y * 5 % 65521\n"
      "    return {'out': y, 'transposed': y.transpose(1, 3), 'sum': y.flatten(1).sum(1)}",
      {"out", "transposed", "sum"});
  const Ended with = run({"model.cuda_graph=on"});
  const Ended without = run({"model.cuda_graph=off"});
  constexpr const char* kSaid = "as a CUDA graph";
  EXPECT_EQ(with.err.find(kSaid) != std::string::npos, tests_cuda()) << with.err;
  EXPECT_THAT(without.err, Not(HasSubstr(kSaid)));
  EXPECT_THAT(with.files, SizeIs(3 * kItems));
  EXPECT_THAT(differences(with.files, without.files), IsEmpty());
}

}  // namespace
}  // namespace tailrace
