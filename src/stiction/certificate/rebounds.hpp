#pragma once

#include <vector>

#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// The islands of a rigid step in which a contact rebounds.
///
/// There the impulse is a sum over the phases of the impact, but the velocity at the end is that of
/// the last phase. A contact that was loaded during compression may be separating, and its friction
/// may point along the present slip. Complementarity and the direction of friction do not hold
/// then, and there is no error bound.
class Rebounds {
 public:
  void find(const SolvedStep& step);

  bool is_any() const { return is_any_; }
  bool in_island(int island) const { return in_island_[island] != 0; }

 private:
  bool is_any_ = false;
  std::vector<char> in_island_;
};

}  // namespace stiction::certificate
