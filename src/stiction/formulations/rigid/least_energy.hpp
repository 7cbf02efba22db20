#pragma once

#include <span>
#include <vector>

#include "stiction/formulations/rigid/rigid_law.hpp"
#include "stiction/numerics/lcp.hpp"
#include "stiction/numerics/lemke.hpp"
#include "stiction/numerics/ratio_pivoting.hpp"

namespace stiction::formulations {

/// Solves a convex quadratic program whose KKT conditions Lemke's method could not solve,
///
///     min 1/2 x^T H x + h^T x,   A x + a >= 0,   x >= 0.
///
/// H is replaced by H + e I = L L^T. The program then asks for the point u = L^T x of a polyhedron
/// that is nearest to a given point. Further passes, centered at the last x, remove the effect of e
/// (proximal point method). It allocates memory, because only few steps need it, whose LCP fails by
/// round-off.
class KktProjection {
 public:
  /// Solves the program.
  /// @param kkt the LCP [[H, -A^T], [A, 0]], [h; a]
  /// @param x   out: the variables, size of H > 0
  /// @return kSolved also if the residual is at most kAcceptedResidual of the problem's numbers
  numerics::LcpReport solve(const numerics::DenseLcp& kkt, std::span<double> x);

 private:
  numerics::RatioPivoting pivoting_;
};

/// The quadratic program of least kinetic energy over the impulses
/// x = (f_N, s+, t+, s-, t-, dry) >= 0 of a chosen set of contacts,
///
///     min 1/2 x^T G G^T x + x^T (G u_hat + c)
///     N u + b_n >= 0,   1^T (N u + b_n) <= kappa
///     mu f_N + dt nu |slip0| >= cos(theta_m) (s+ + s-) + sin(theta_m) (t+ + t-),
///         theta_m = (pi / 2) m / (k / 2 - 1),   m = 0 .. k / 2 - 1,
///
/// with the rows G = [N; S; T; -S; -T; F; -F] of these impulses, and a bound on the sum of the two
/// impulses of each dry joint. It is solved as the LCP of its KKT conditions,
/// [[H, -A^T], [A, 0]] with H = G G^T. If that fails, KktProjection solves it. Keeps its memory.
/// Source: [drumwright2010]; [theory:least-energy].
class LeastEnergyProgram {
 public:
  /// @param num_directions k, even, >= 4
  explicit LeastEnergyProgram(int num_directions);

  /// Chooses the unknowns: normals of the chosen contacts, all limits, friction of the chosen
  /// contacts, and dry joints.
  /// @param is_chosen size num_contacts
  /// @return number of unknowns of the LCP, multipliers included
  int choose_variables(const ReducedProblem& problem, std::span<const char> is_chosen);

  /// Solves for the variables that were chosen last.
  /// @param kappa sum of the separation speeds of frictionless contacts [m/s]
  numerics::LcpReport solve(const ReducedProblem& problem, double kappa);

  /// Writes the impulses of the last solve, and u. Does not change `active`.
  void read_out(const ReducedProblem& problem, ReducedSolution* out) const;

 private:
  enum class ImpulseKind { kUnilateral, kTangent, kDry };
  /// An impulse along plus or minus one row of the problem.
  struct Variable {
    ImpulseKind kind = ImpulseKind::kUnilateral;
    int row = 0;      // in N, T or F
    double sign = 1;  // 1 or -1
  };

  int num_variables() const { return static_cast<int>(variables_.size()); }
  int num_multipliers(const ReducedProblem& problem) const;
  void stack_rows(const ReducedProblem& problem);
  void assemble_energy(const ReducedProblem& problem, double kappa);
  void assemble_friction_bounds(const ReducedProblem& problem);

  std::vector<FrictionDirection> half_planes_;  // cos and sin of theta_m
  std::vector<int> frictional_;                 // chosen contacts with friction
  std::vector<Variable> variables_;
  std::vector<double> G_, constants_;  // rows of the variables, and c
  std::vector<double> Q_, r_, x_;      // the LCP, column-major; x: variables, then multipliers
  numerics::Lemke lemke_;
  KktProjection projection_;
};

}  // namespace stiction::formulations
