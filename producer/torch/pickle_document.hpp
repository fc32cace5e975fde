#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace {

/// One object of a pickle, as data: nothing is imported, called or constructed.
struct PickleValue {
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kTuple, kList, kDict, kGlobal, kCall, kPersistent };

  Kind kind = Kind::kNone;
  std::int64_t integer = 0;            // kInt, kBool
  std::string text;                    // kString; kGlobal: "module.name"
  std::vector<PickleValue*> elements;  // kTuple, kList; kCall: callable, arguments; kPersistent: the id
  std::vector<PickleValue*> keys;      // kDict, kCall (an OrderedDict is a call that items are put into)
  std::vector<PickleValue*> values;    // to `keys`
};

/// Reads pickles of protocol 2 to 4 as far as torch.save uses them, as a tree of data (it may share nodes).
class PickleDocument {
 public:
  /// Throws ModelError for damaged bytes and for opcodes that torch.save does not write.
  explicit PickleDocument(std::string_view bytes);

  [[nodiscard]] const PickleValue& root() const { return *root_; }

 private:
  friend class PickleMachine;

  std::deque<PickleValue> nodes_;  // owns every value: no recursion however deep they nest
  PickleValue* root_ = nullptr;
};

}  // namespace tailrace
