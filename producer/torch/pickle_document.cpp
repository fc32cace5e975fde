#include "producer/torch/pickle_document.hpp"

#include <cstring>
#include <unordered_map>
#include <utility>

#include "producer/errors.hpp"

namespace tailrace {

using Kind = PickleValue::Kind;

/// The stack machine that a pickle is a program for (Lib/pickletools.py of CPython documents the opcodes).
class PickleMachine {
 public:
  PickleMachine(std::string_view bytes, PickleDocument& document) : bytes_(bytes), document_(document) {}

  PickleValue* run() {
    while (true) {
      const char opcode = take(1)[0];
      if (opcode == '.') return pop();
      if (!scalar(opcode) && !container(opcode) && !memo(opcode) && !object(opcode))
        fail("it uses opcode " + std::to_string(static_cast<unsigned char>(opcode)));
    }
  }

 private:
  [[noreturn]] static void fail(const std::string& what) {
    throw ModelError("damaged or unknown pickle: " + what);
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size()) fail("it ends too early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view take_line() {
    const std::size_t end = bytes_.find('\n');
    if (end == std::string_view::npos) fail("a line does not end");
    const std::string_view line = take(end + 1);
    return line.substr(0, end);
  }

  /// A little-endian number of `count` bytes, at most 8.
  std::uint64_t take_number(std::size_t count) {
    std::uint64_t number = 0;
    std::memcpy(&number, take(count).data(), count);
    return number;
  }

  PickleValue* make(Kind kind) {
    document_.nodes_.emplace_back().kind = kind;
    return &document_.nodes_.back();
  }

  void push_integer(Kind kind, std::int64_t integer) {
    stack_.push_back(make(kind));
    stack_.back()->integer = integer;
  }

  void push_text(Kind kind, std::string_view text) {
    stack_.push_back(make(kind));
    stack_.back()->text = text;
  }

  void push_elements(Kind kind, std::vector<PickleValue*> elements) {
    stack_.push_back(make(kind));
    stack_.back()->elements = std::move(elements);
  }

  PickleValue* pop() { return pop_many(1)[0]; }

  std::vector<PickleValue*> pop_many(std::size_t count) {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() - floor < count) fail("its stack is empty");
    std::vector<PickleValue*> values(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return values;
  }

  std::vector<PickleValue*> pop_to_mark() {
    if (marks_.empty()) fail("a mark is missing");
    std::vector<PickleValue*> values = pop_many(stack_.size() - marks_.back());
    marks_.pop_back();
    return values;
  }

  PickleValue* top() {
    PickleValue* value = pop();
    stack_.push_back(value);
    return value;
  }

  bool scalar(char opcode) {
    switch (opcode) {
      case 'N':
        return push_integer(Kind::kNone, 0), true;
      case '\x88':
      case '\x89':
        return push_integer(Kind::kBool, opcode == '\x88' ? 1 : 0), true;
      case 'K':
        return push_integer(Kind::kInt, static_cast<std::int64_t>(take_number(1))), true;
      case 'M':
        return push_integer(Kind::kInt, static_cast<std::int64_t>(take_number(2))), true;
      case 'J':
        return push_integer(Kind::kInt, static_cast<std::int32_t>(take_number(4))), true;
      case '\x8a':
        return push_long(take_number(1)), true;
      case 'G':
        return take(8), push_integer(Kind::kFloat, 0), true;
      case 'X':
        return push_text(Kind::kString, take(take_number(4))), true;
      case '\x8c':
        return push_text(Kind::kString, take(take_number(1))), true;
      default:
        return false;
    }
  }

  /// Two's complement of any length; what does not fit 64 bits is no size of anything here.
  void push_long(std::size_t count) {
    const std::string_view digits = take(count);
    if (count > 8) return push_text(Kind::kNone, {});
    std::int64_t number = count > 0 && static_cast<signed char>(digits.back()) < 0 ? -1 : 0;
    std::memcpy(&number, digits.data(), count);
    push_integer(Kind::kInt, number);
  }

  bool container(char opcode) {
    switch (opcode) {
      case '(':
        return marks_.push_back(stack_.size()), true;
      case ')':
        return push_elements(Kind::kTuple, {}), true;
      case '\x85':
      case '\x86':
      case '\x87':
        return push_elements(Kind::kTuple, pop_many(static_cast<unsigned char>(opcode) - 0x84U)), true;
      case 't':
        return push_elements(Kind::kTuple, pop_to_mark()), true;
      case ']':
        return push_elements(Kind::kList, {}), true;
      case '}':
        return push_elements(Kind::kDict, {}), true;
      case 'a':
        return append(pop_many(1)), true;
      case 'e':
        return append(pop_to_mark()), true;
      case 's':
        return set_items(pop_many(2)), true;
      case 'u':
        return set_items(pop_to_mark()), true;
      default:
        return false;
    }
  }

  void append(const std::vector<PickleValue*>& values) {
    std::vector<PickleValue*>& elements = top()->elements;
    elements.insert(elements.end(), values.begin(), values.end());
  }

  void set_items(const std::vector<PickleValue*>& items) {
    PickleValue* dict = top();
    if (items.size() % 2 != 0) fail("a key has no value");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict->keys.push_back(items[i]);
      dict->values.push_back(items[i + 1]);
    }
  }

  bool memo(char opcode) {
    switch (opcode) {
      case 'q':
        return memo_[take_number(1)] = top(), true;
      case 'r':
        return memo_[take_number(4)] = top(), true;
      case '\x94':
        return memo_[memo_.size()] = top(), true;
      case 'h':
        return recall(take_number(1)), true;
      case 'j':
        return recall(take_number(4)), true;
      default:
        return false;
    }
  }

  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("it refers to what it has not defined");
    stack_.push_back(found->second);
  }

  bool object(char opcode) {
    switch (opcode) {
      case '\x80':  // protocol
        return take(1), true;
      case '\x95':  // frame
        return take(8), true;
      case 'c': {
        const std::string module(take_line());
        return push_text(Kind::kGlobal, module + "." + std::string(take_line())), true;
      }
      case '\x93': {
        const auto names = pop_many(2);
        // Names made of names would double with each opcode.
        if (names[0]->kind != Kind::kString || names[1]->kind != Kind::kString)
          fail("a name is not a string");
        return push_text(Kind::kGlobal, names[0]->text + "." + names[1]->text), true;
      }
      case 'R':
      case '\x81':
        return push_elements(Kind::kCall, pop_many(2)), true;
      case 'b':  // the state of an object: nothing that is needed here (an OrderedDict's _metadata)
        return pop(), true;
      case 'Q':
        return push_elements(Kind::kPersistent, pop_many(1)), true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  PickleDocument& document_;
  std::vector<PickleValue*> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, PickleValue*> memo_;
};

PickleDocument::PickleDocument(std::string_view bytes) { root_ = PickleMachine(bytes, *this).run(); }

}  // namespace tailrace
