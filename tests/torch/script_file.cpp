#include "tests/torch/script_file.hpp"

#include <ATen/ops/zeros.h>
#include <torch/csrc/jit/api/module.h>

#include "producer/torch/dtype.hpp"

namespace tailrace {

void write_script(const std::string& path, const std::string& body) {
  torch::jit::Module module("Script");
  module.register_buffer("count", at::zeros({1}));
  module.register_buffer("weight", at::zeros({2, 3}));
  module.define("def forward(self, x):\n    " + body + "\n");
  module.save(path);
}

std::int64_t script_number_of(const std::string& dtype_name) {
  return static_cast<std::int64_t>(scalar_type_of(find_dtype(dtype_name)->dtype));
}

}  // namespace tailrace
