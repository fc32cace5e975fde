#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "tests/sinks/support.hpp"

namespace tailrace {
namespace {

using testing::batch_of;
using testing::read_file;
using testing::row_named;
using testing::TemporaryFolder;
using testing::tensor_of;
using testing::write_file;

constexpr const char* kPython = TAILRACE_SOURCE_DIR "/.venv/bin/python";

// Every array holds the bytes 0, 1, 2 …; numpy must read it, and write the very same file itself. NumPy
// before 1.25 pads its headers differently, so there only the content counts.
constexpr const char* kCheck = R"(
import io, pathlib, sys
import numpy as np
folder = pathlib.Path(sys.argv[1])
cases = (folder / "cases.txt").read_text().splitlines()
same_padding = tuple(map(int, np.__version__.split(".")[:2])) >= (1, 25)
for case in cases:
    name, descr, *shape = case.split()
    shape = tuple(map(int, shape))
    path = folder / f"{name}.npy"
    array = np.load(path, allow_pickle=False)
    assert array.dtype == np.dtype(descr), (name, array.dtype)
    assert array.shape == shape, (name, array.shape)
    count = array.size * array.itemsize
    assert array.tobytes() == bytes(i % 256 for i in range(count)), name
    buffer = io.BytesIO()
    np.save(buffer, array)
    assert not same_padding or buffer.getvalue() == path.read_bytes(), name
print(len(cases))
)";

TEST(NpyFiles, AreReadAndWrittenTheSameByNumpy) {
  if (::access(kPython, X_OK) != 0) GTEST_SKIP() << "no " << kPython;
  if (std::system((std::string(kPython) + " -c 'import numpy' 2>/dev/null").c_str()) != 0)
    GTEST_SKIP() << kPython << " has no numpy";
  const TemporaryFolder folder;
  const std::vector<std::vector<std::int64_t>> shapes{
      {},        {1},       {7}, {0, 5}, {5, 0}, {3, 4}, {2, 3, 4, 5}, std::vector<std::int64_t>(32, 1),
      {1000, 3}, {1, 10000}};
  SinkConfig config;
  config.kind = SinkKind::kNpy;
  config.path = folder.path();
  const auto sink = make_sink(config);
  std::vector<std::uint8_t> bytes(16 * 10000);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::ostringstream cases;
  int count = 0;
  for (const DtypeInfo& info : kDtypes) {
    if (info.numpy_descr.empty()) continue;
    for (const auto& shape : shapes) {
      const std::string name = std::to_string(count++);
      std::vector<std::int64_t> sizes{1};
      sizes.insert(sizes.end(), shape.begin(), shape.end());
      sink->process(batch_of({row_named(0, name)}, {tensor_of("out", info.dtype, sizes, bytes)}));
      cases << name << ' ' << info.numpy_descr;
      for (const std::int64_t size : shape) cases << ' ' << size;
      cases << '\n';
    }
  }
  write_file(folder / "cases.txt", cases.str());
  write_file(folder / "check.py", kCheck);
  const std::string command = std::string(kPython) + " " + (folder / "check.py") + " " +
                              folder.path().native() + " > " + (folder / "answer") + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << read_file(folder / "answer");
  EXPECT_EQ(read_file(folder / "answer"), std::to_string(count) + "\n");
}

}  // namespace
}  // namespace tailrace
