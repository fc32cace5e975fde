// Pickles of torch.save, read as data.

#include <set>

#include "producer/errors.hpp"
#include "producer/torch/pickle_document.hpp"
#include "tests/fuzz/byte_reader.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/fuzz/require.hpp"

namespace tailrace::fuzzing {
namespace {

using namespace std::string_literals;

void check_value(const PickleValue& value, std::size_t input_bytes) {
  require(value.keys.size() == value.values.size(), "a value for each key");
  require(value.text.size() <= input_bytes + 1, "no text is longer than the pickle");
  if (value.kind == PickleValue::Kind::kCall) require(value.elements.size() >= 2, "a call has its arguments");
  if (value.kind == PickleValue::Kind::kPersistent) require(!value.elements.empty(), "an id is there");
}

}  // namespace

bool run_one(std::span<const std::byte> input) {
  try {
    const PickleDocument document(text_of(input));
    // Values may refer to each other in circles.
    std::vector<const PickleValue*> open{&document.root()};
    std::set<const PickleValue*> seen{open.front()};
    while (!open.empty()) {
      const PickleValue& value = *open.back();
      open.pop_back();
      check_value(value, input.size());
      for (const auto* list : {&value.elements, &value.keys, &value.values})
        for (const PickleValue* next : *list)
          if (seen.insert(next).second) open.push_back(next);
    }
    return true;
  } catch (const ModelError&) {
    return false;
  }
}

// Literals end where a hexadecimal escape would swallow the next character.
std::vector<std::string> seeds() {
  const std::string tensor =
      "ctorch._utils\n_rebuild_tensor_v2\n((X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00"s
      "0X\x03\x00\x00\x00"
      "cpuK\x06tQK\x00K\x02K\x03\x86K\x03K\x01\x86\x89"
      "ccollections\nOrderedDict\n)RtR"s;
  return {
      "\x80\x02}q\x00X\x01\x00\x00\x00wq\x01"s + tensor + "s.",
      "\x80\x02"
      "ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00"
      "aK\x07u}b."s,
      "\x80\x04\x95\x1f\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94\x8c\x06system\x94\x93\x94\x8c\x04true\x94"
      "\x85\x94R\x94."s,
      "(K\xffM\xff\xffJ\xff\xff\xff\xff\x8a\x02\x00\x80\x8a\x00NG\x00\x00\x00\x00\x00\x00\x00\x00\x88]t."s,
      "]r\x00\x01\x00\x00j\x00\x01\x00\x00"
      "a."s};
}

std::vector<std::string> dictionary() {
  return {"ctorch._utils\n_rebuild_tensor_v2\n",
          "ctorch\nFloatStorage\n",
          "\x80\x02",
          "\x93",
          "\x94",
          "\x8a\x08"};
}

}  // namespace tailrace::fuzzing
