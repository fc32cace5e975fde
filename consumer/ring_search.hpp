#pragma once

#include <functional>
#include <optional>
#include <string>

#include "consumer/options.hpp"
#include "shm/ring.hpp"
#include "systemd/lifesign.hpp"

namespace tailrace {

/// A ring to work for, and as which group.
struct Place {
  Ring ring;
  GroupId group;
};

/// A consumer's way to a ring, one look after the other.
class RingSearch {
 public:
  /// `options` outlive it.
  RingSearch(const RingFiles& files, const ConsumerOptions& options, Lifesign& life);

  /// Empty: not yet; then it has waited for a moment. Throws RingMismatch where a living producer has a ring
  /// that is of no use here.
  std::optional<Place> look();
  /// At the last look there was no ring.
  [[nodiscard]] bool found_nothing() const { return found_nothing_; }

 private:
  std::optional<Place> judge(Ring ring);
  void wait_for_another(const std::string& fault);
  void wait(const std::string& reason);

  static constexpr int kMaxMisfits = 20;  // looks in a row

  const RingFiles* files_;
  const std::string* group_;
  const std::string* state_;
  Lifesign* life_;
  Lifesign::Stage stage_;
  std::string said_;
  bool found_nothing_ = false;
  int misfits_ = 0;
};

}  // namespace tailrace
