#pragma once

#include <memory>
#include <span>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/contact/momentum_factor.hpp"

namespace stiction::certificate {

/// Certifies steps: computes the errors of a solution from the problem and the solution alone, by
/// kinematics and laws of its own. docs/certificates.md says what it shares with the solver.
class Certifier {
 public:
  Certifier();
  ~Certifier();
  Certifier(Certifier&&) noexcept;
  Certifier& operator=(Certifier&&) noexcept;

  /// Computes the certificate of a step.
  /// @param step   a step of any model except `mujoco`
  /// @param factor the factor whose calc_derived completed the problem
  Certificate certify(const SolvedStep& step, contact::MomentumFactor* factor);

  /// J^T gamma of the impulses reported last, without the caller's springs; size num_dofs.
  std::span<const double> constraint_impulse() const;
  /// A (v - v*) - J^T gamma of all impulses reported in the last step; size num_dofs.
  std::span<const double> imbalance() const;
  /// Computes a bound on the rounding error of each entry of the imbalance; size num_dofs. This
  /// takes a product with |A| and is rarely needed.
  /// @param step the last step
  std::span<const double> calc_imbalance_rounding(const SolvedStep& step);

 private:
  struct Checks;
  std::unique_ptr<Checks> checks_;
};

/// Returns the bound on the error of a sum of the balance A (v - v*) = J^T gamma, relative to the
/// magnitudes of its terms [-].
double calc_rounding_unit(const ContactProblem& problem);

}  // namespace stiction::certificate
