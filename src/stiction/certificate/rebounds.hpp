#pragma once

#include <vector>

#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Finds the islands of a rigid step in which a contact rebounds.
///
/// In such an island the impulse is a sum over the phases of the impact, but the final velocity is
/// that of the last phase. A contact that was loaded during compression may be separating now, and
/// its friction may point along the present slip. So complementarity and the direction of friction
/// are not checked there, and the step has no error bound.
class Rebounds {
 public:
  void find(const SolvedStep& step);

  /// True if any island has a rebound.
  bool is_any() const { return is_any_; }
  bool in_island(int island) const { return in_island_[island] != 0; }

 private:
  bool is_any_ = false;
  std::vector<char> in_island_;
};

}  // namespace stiction::certificate
