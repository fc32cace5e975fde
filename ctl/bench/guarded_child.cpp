#include "ctl/bench/guarded_child.hpp"

#include <sys/wait.h>

#include <utility>

namespace tailrace {

GuardedChild::GuardedChild(Child child) : child_(std::move(child)) { child_.start(); }

GuardedChild::~GuardedChild() {
  if (!child_.running()) return;
  child_.kill_group();
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child_.pid()), &info, WEXITED);
}

std::optional<int> GuardedChild::try_end() {
  if (!code_) code_ = child_.try_reap();
  return code_;
}

int GuardedChild::wait_for_end(const ChildSignals& signals) {
  while (!try_end()) signals.wait_or_throw(std::chrono::milliseconds(200));
  return *code_;
}

}  // namespace tailrace
