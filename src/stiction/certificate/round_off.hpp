#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Bounds the errors that rounding alone may cause in the impulses of the laws.
///
/// A contact velocity is a sum of rounded terms J v, so it is known only to a few units in the last
/// place of the largest term. A stiff law, such as friction mu gamma_n0 / v_s near stiction, turns
/// that into an error of the impulse which no solver can avoid.
/// Source: [theory:round-off].
class RoundOff {
 public:
  /// Moves every contact and row velocity of the solution by its rounding error, and adds up the
  /// changes of the laws' impulses.
  void calc(const SolvedStep& step);

  /// Bound on the rounding error of each entry of A (v - v*) - J^T gamma; size num_dofs.
  std::span<const double> imbalance() const { return imbalance_; }
  /// Bound on the rounding error of the impulse of any contact or row [N s].
  double impulse() const { return impulse_; }

 private:
  void add_pair(const SolvedStep& step, const contact::BodyPair& pair);
  void add_row(const SolvedStep& step, const contact::Row& row);

  std::vector<double> imbalance_;
  double impulse_ = 0;
};

}  // namespace stiction::certificate
