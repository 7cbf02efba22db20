#pragma once

#include <span>
#include <vector>

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

struct Certificate;

/// What is proved of a rigid model's step, from the problem and the result alone: momentum
/// balances, nothing pulls, nothing closes what is closed, what pushes does not separate, what must
/// not slip does not, friction is within its bound and opposes slip, and no more contacts push than
/// Theorem 1 of [drumwright2015] says have to. A correction of an overlap may be left out: then it
/// is the overlap's speed that complements its impulse.
///
/// Of `no_slip` and `viscous`, whose step is the point nearest to v* of a convex set, in the norm
/// of A, by the multipliers given
///
///     |v - v_exact|_A <= |r|_{A^-1} + sqrt(gamma_n^T w + 2 (violation)^T |gamma|),
///
/// r being the imbalance of momentum. It assumes that the multipliers of the exact step are at most
/// twice those given, and bounds the error in the step's own linear program, which has exactly
/// those contacts that the result holds: see docs/certificates.md. There is none of a step in which
/// contacts rebound.
class RigidCertifier {
 public:
  /// @param given      out: J^T gamma of all but rows without a source, size num_dofs
  /// @param imbalance  out: A (v - v*) - J^T gamma, size num_dofs
  void certify(const ContactProblem& problem, MomentumFactor* factor, const Islands& islands,
               ContactModel model, const ModelParameters& parameters, double tolerance,
               double absolute_tolerance, const ContactSolution& solution,
               std::vector<double>* given, std::vector<double>* imbalance, Certificate* out);

 private:
  /// What the error bound adds up.
  struct Sums {
    double complementarity = 0;  // [J]
    double violation = 0;        // [J]
    double max_w = 0;            // [1/kg]
    double closing = 0;          // of surfaces that may not [m/s]
    double speed = 1;            // by which round-off of velocities is judged [m/s]
    double impulse = 0;          // the same [N s]
    bool may_gain = false;       // energy, rightly
    double kinetic_energy = 0;   // after the step [J]
    bool is_finite = true;
  };
  void find_rebounds(const ContactProblem& problem, const Islands& islands, ContactModel model,
                     const ContactSolution& solution);
  void check_contacts(const ContactProblem& problem, ContactModel model,
                      const ModelParameters& parameters, const ContactSolution& solution,
                      std::vector<double>* given, Sums* sums, Certificate* out);
  void check_rows(const ContactProblem& problem, const Islands& islands, ContactModel model,
                  const ModelParameters& parameters, const ContactSolution& solution,
                  std::vector<double>* given, Sums* sums, Certificate* out);
  void count_pushing(const ContactProblem& problem, const Islands& islands, ContactModel model,
                     const ContactSolution& solution, Certificate* out);
  /// Momentum: of the impulses given, and of those that the laws have at v.
  void check_balance(const ContactProblem& problem, const Islands& islands, double tolerance,
                     double absolute_tolerance, const ContactSolution& solution,
                     std::span<const double> given, std::vector<double>* imbalance, Sums* sums,
                     Certificate* out);
  void judge_blocks(const ContactProblem& problem, std::span<const int> blocks, double tolerance,
                    double absolute_tolerance, Certificate* out);
  void judge(ContactModel model, double tolerance, Sums* sums, Certificate* out);
  void bound_error(const ContactProblem& problem, MomentumFactor* factor, ContactModel model,
                   const Sums& sums, Certificate* out);
  int find_rank(const ContactProblem& problem, const Islands& islands, int island,
                ContactModel model);
  void add_unit_row(const ContactProblem& problem, const Islands& islands);
  int count_independent();

  std::vector<double> change_, residual_, momentum_, by_law_, own_, shares_;
  std::vector<char> is_held_, rebounds_, is_struck_;
  std::vector<char> has_rebound_;    // of islands
  std::vector<double> corrections_;  // of equalities, their norm, of islands [m/s, rad/s]
  std::vector<double> row_, rows_;   // bilateral, the latter scaled by diag(A)^(-1/2)
  std::vector<int> dofs_;
  Verdict verdict_;
};

}  // namespace stiction::certificate
