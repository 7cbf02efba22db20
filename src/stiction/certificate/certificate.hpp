#pragma once

#include <span>
#include <vector>

#include "stiction/certificate/rigid_certificate.hpp"
#include "stiction/certificate/round_off.hpp"
#include "stiction/certificate/substep_check.hpp"
#include "stiction/certificate/verdict.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/momentum_factor.hpp"

namespace stiction::certificate {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;
using contact::ModelParameters;
using contact::MomentumFactor;

/// What is proved of one step's solution, from the problem and the result alone.
///
/// The cost of a convex model is 1/2 |v - v*|_A^2 plus a convex function, so it is strongly convex
/// with modulus 1 in the norm of A, and
///
///     |v - v_exact|_A <= |grad l(v)|_{A^-1}.
///
/// It bounds the error of the solver in one step; not the model's error, nor the time step's.
struct Certificate {
  /// Bound on |v - v_exact|_A, infinite for models without one (`tamsi`), in units of the square
  /// root of energy [sqrt(J)].
  double error_bound = 0;
  /// Bound on the error of any contact point's relative velocity [m/s].
  double velocity_bound = 0;
  /// Largest over the islands of |D grad l| / max(|D p|, |D J^T gamma|), the impulses that act, see
  /// kResolvedMomentum [-].
  double relative_residual = 0;
  /// The same relative to the momentum |D A v| where that is larger, as [castro2023] and Drake
  /// measure it. A step that `tamsi` divided is not in it [-].
  double residual_to_momentum = 0;
  /// The part of relative_residual that is put down to rounding, see RoundOff; 0 where the
  /// tolerance is met without.
  double round_off = 0;
  /// Largest difference between the impulses given and those of the model at v [N s].
  double impulse_error = 0;
  /// Smallest normal impulse given [N s]; negative would be adhesion.
  double min_normal_impulse = 0;
  /// Largest friction impulse, torsion and rolling included, beyond the model's bound: mu gamma_n
  /// of the step, or mu gamma_n0 for the lagged models [N s]; at most round-off.
  double max_cone_excess = 0;
  /// Largest energy that friction, of every kind, puts into a contact [J]; at most round-off.
  double max_friction_work = 0;
  /// `coulomb`: largest over the islands of |x - gamma_n|_inf / mean(gamma_n), how far the normal
  /// impulses x that bound friction are from those of the step; 0 for the other models [-]. Where
  /// the mean is below what the tolerance resolves, relative to the latter.
  double coupling_error = 0;
  /// Rigid models, see RigidCertifier: largest |min(w gamma_n, v_n + b_n)| of contacts and limits,
  /// w being their mobility [m/s].
  double complementarity = 0;
  /// gamma_n^T (v_n + b_n), and of polygons the work that their friction could still do [J].
  double complementarity_work = 0;
  /// Rigid models: largest velocity that is none, tangential of contacts without slip and of
  /// equalities [m/s, rad/s].
  double constraint_error = 0;
  /// Rigid models: energy that contacts and rows add, 1/2 |v|_A^2 - 1/2 |v*|_A^2 [J]; above 0 only
  /// by corrections and moving surfaces.
  double energy_gain = 0;
  /// Rigid models: contacts and limits that push, and how many need to, n - rank X (Theorem 1 of
  /// [drumwright2015]); sums over the islands.
  int num_pushing = 0, max_pushing = 0;
  /// True if all but the coupling hold: residuals within the tolerance or, where that is finer than
  /// arithmetic, within round-off; laws within round-off.
  bool ok = true;
  /// Where not ok, what fails by most.
  FailedCheck failed;
};

/// What every model's impulses must keep: nothing pulls, laws and friction's bound within the
/// tolerance.
/// @param tolerance [N s]
void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict);

/// @param problem    after calc_derived of `factor`
/// @param tolerance  relative tolerance that the solver was asked for [-]
/// @param absolute_tolerance the same, absolute [sqrt(J)]
class Certifier {
 public:
  Certificate certify(const ContactProblem& problem, MomentumFactor* factor, const Islands& islands,
                      ContactModel model, const ModelParameters& parameters, double tolerance,
                      double absolute_tolerance, const ContactSolution& solution);

  /// J^T gamma of the last solution's impulses, as given, but for springs: these
  /// stand for forces of the caller's own. Size num_dofs.
  std::span<const double> constraint_impulse() const { return given_; }
  /// A (v - v*) - J^T gamma of all impulses given; size num_dofs.
  std::span<const double> imbalance() const { return imbalance_; }

 private:
  /// What the laws say of the impulses given; fills impulse_ and given_.
  struct Laws {
    double scale = 0;  // the largest impulse, by which round-off is judged [N s]
    double max_w = 0;  // the largest Delassus size [1/kg]
    bool is_finite = true;
  };
  Laws check_laws(const ContactProblem& problem, const Islands& islands, ContactModel model,
                  const ModelParameters& parameters, const ContactSolution& solution,
                  Certificate* out);
  void check_rows(const ContactProblem& problem, const Islands& islands,
                  const ContactSolution& solution, Laws* laws, Certificate* out);
  /// Fills momentum_, residual_, imbalance_ and dual_shares_.
  void calc_balance(const ContactProblem& problem, MomentumFactor* factor,
                    const ContactSolution& solution);

  /// Of the normal bounds given, by the normal impulses of the laws.
  double calc_coupling_error(const ContactProblem& problem, const Islands& islands,
                             double tolerance, const ContactSolution& solution) const;

  struct Balance {
    Verdict verdict;
    double relative_residual = 0;
    double residual_to_momentum = 0;
    double round_off = 0;
    double bound_squared = 0;     // |grad l|^2 in the norm of A^-1, over all islands [J]
    double max_island_bound = 0;  // the largest share of an island [J]
  };
  /// @param allowance of rounding, per dof; empty for none
  Balance judge_balance(const ContactProblem& problem, const Islands& islands,
                        const ContactSolution& solution, double tolerance,
                        double absolute_tolerance, std::span<const double> allowance) const;

  // Per dof; impulse_ is J^T gamma of the laws, given_ and own_ of the solution, the latter of
  // springs.
  std::vector<double> change_, residual_, momentum_, impulse_, given_, own_, imbalance_;
  std::vector<double> normal_impulse_;  // of the laws, per contact
  std::vector<double> dual_shares_;     // of each block in |residual|^2, in the norm of A^-1
  RoundOff round_off_;
  SubstepCheck substeps_;
  RigidCertifier rigid_;
};

}  // namespace stiction::certificate
