#include "ledger/name_list.hpp"

#include <utility>

namespace tailrace {

NameList::NameList(std::string text) : text_(std::move(text)) {
  for (std::size_t end = text_.find('\0'); end != std::string::npos; end = text_.find('\0', end + 1))
    starts_.push_back(end + 1);
  text_.resize(starts_.back());
}

void NameList::add(std::string_view name) {
  text_.append(name.substr(0, name.find('\0')));
  text_.push_back('\0');
  starts_.push_back(text_.size());
}

}  // namespace tailrace
