#include "tests/gpu/written_outputs.hpp"

namespace tailrace {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

/// Outputs in every layout that a model may return, through the ring; beside them what the CPU gives without
/// one.
class OutputLayouts : public WrittenOutputs, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    WrittenOutputs::SetUp();
    if (IsSkipped()) return;
    write_model(
        "y = x * 3 + 1\n"
        "    n = y.view([y.size(0), 6, 4, 6])\n"
        "    return {'plain': y, 'transposed': y.transpose(1, 3), 'rows_inside': y.transpose(0, 4),\n"
        "            'channels_last': n.contiguous(memory_format=2),\n"
        "            'expanded': n[:, :1].expand([-1, 5, -1, -1]), 'repeated': y[:1].expand([4, -1, -1, -1, "
        "-1]),\n"
        "            'sliced': n[:, ::2, 1:, ::3], 'tail': n[:, 4:], 'one': n[:, 0, 0, 0], 'empty': n[:, "
        ":0],\n"
        "            'bool': n % 2 == 0, 'wide': y.to(4)}",
        kOutputs);
  }

  const std::vector<std::string> kOutputs{"plain",    "transposed", "rows_inside", "channels_last",
                                          "expanded", "repeated",   "sliced",      "tail",
                                          "one",      "empty",      "bool",        "wide"};
};

TEST_P(OutputLayouts, AreWrittenAsOnTheCpu) {
  const Ended here = run({std::string("egress.strategy=") + GetParam()});
  const Ended there = run({"egress.strategy=inline", "pipeline.device=cpu", "group.files.processes=1"});
  // 'rows_inside' belongs to its batch as a whole, the others to their items.
  EXPECT_THAT(here.files, SizeIs((kOutputs.size() - 1) * kItems + (kItems + kBatchSize - 1) / kBatchSize));
  EXPECT_THAT(differences(here.files, there.files), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(With, OutputLayouts, testing::Values("workers", "pool", "async", "streams"),
                         [](const auto& strategy) { return std::string(strategy.param); });

}  // namespace
}  // namespace tailrace
