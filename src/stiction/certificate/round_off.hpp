#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/solved_step.hpp"

namespace stiction::certificate {

/// Bounds the errors that rounding alone may cause in the balance A (v - v*) = J^T gamma.
///
///  - The sums: the balance is a sum of rounded products. Its error is at most a small number of
///    units times the sum of their magnitudes, |A| (|v| + |v*|) + |J|^T |gamma|. Where bodies press
///    against each other, the magnitudes may be much larger than the sum. Source: [higham2002].
///  - The laws: a contact velocity is a sum of rounded terms J v, so it is known only to a few
///  units
///    in the last place of the largest term. A stiff law, such as friction mu gamma_n0 / v_s near
///    stiction, turns that into an error of the impulse which no solver can avoid.
///
/// Source: [theory:round-off].
class RoundOff {
 public:
  /// Bounds the errors of the sums.
  void calc_sums(const SolvedStep& step);
  /// Bounds the errors of the laws by the changes of impulses for rounding of each velocity.
  void calc_laws(const SolvedStep& step);

  /// The sum of the magnitudes of the terms of each entry of the balance; size num_dofs.
  std::span<const double> terms() const { return terms_; }
  /// The sum of |J^T gamma| in the norm of A^-1 over the contacts of a rigid model, whose solver
  /// sums them to the velocities; 0 for compliant models [sqrt(J)].
  double impulses() const { return impulses_; }
  /// The bound on the error of a sum, relative to the magnitudes of its terms [-].
  double unit() const { return unit_; }
  /// Bound on each entry's error of J^T gamma by the laws; num_dofs, or empty before calc_laws.
  std::span<const double> laws() const { return laws_; }
  /// Returns the bound on the rounding error of the residual |D r| over some blocks, where
  /// D = diag(A)^(-1/2) [sqrt(J)].
  /// @param momentum scale of the momentum and of the impulses [sqrt(J)]
  double calc_residual(const ContactProblem& problem, std::span<const int> blocks,
                       double momentum) const;
  /// Bound on the rounding error of the impulse of any contact or row [N s]; 0 before calc_laws.
  double impulse() const { return impulse_; }
  /// Bounds on the rounding errors of the impulses of contacts, after calc_laws [N s].
  std::span<const double> contact_impulses() const { return contact_impulses_; }

 private:
  void add_pair_terms(const SolvedStep& step, const contact::BodyPair& pair);
  void add_pair(const SolvedStep& step, const contact::BodyPair& pair);
  void add_row(const SolvedStep& step, const contact::Row& row);

  std::vector<double> terms_, laws_, magnitude_, contact_impulses_;
  double unit_ = 0, impulses_ = 0;
  double impulse_ = 0;
};

}  // namespace stiction::certificate
