#pragma once

#include <cstddef>
#include <functional>

namespace tailrace {

/// So many things of so many parts each.
struct OrderedWork {
  std::size_t thing_count = 0;
  std::size_t part_count = 1;    // of each thing
  std::size_t thread_count = 1;  // at least 1
};

/// Calls `work(thing, part)` for every part in threads of its own, begun in this order, and `ready(thing)` in
/// the calling thread, in order too, each as soon as all parts of that thing are done, while later things are
/// still being worked on. Returns when all is done and no thread is left. The first exception of either ends
/// the rest and is thrown on; so is std::system_error where threads cannot be made.
void work_in_order(const OrderedWork& amount,
                   const std::function<void(std::size_t thing, std::size_t part)>& work,
                   const std::function<void(std::size_t thing)>& ready);

}  // namespace tailrace
