#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/formulations/convex/island_dofs.hpp"
#include "stiction/formulations/convex/pair_kinematics.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/newton.hpp"

namespace stiction::formulations {

/// The convex problem of one island, a numerics::StiffProblem:
///
///     l(v) = 1/2 |v - v*|_A^2 + sum l_i(v_c,i),   g = A (v - v*) - J^T gamma,   H = A + J^T G J.
///
/// Contacts are evaluated four at a time. The impulses of a body pair are summed to one wrench, and
/// their Hessians to one 6 x 6 matrix, before they are multiplied by a Jacobian.
/// Source: [theory:convex-problem], [theory:newton], [theory:pair-hessian].
///
/// An object lives for one solve. The current point v, the momentum A (v - v*), the batches and the
/// rows are in the arrays of the solver. The velocities and impulses of batches and rows are those
/// of the last gradient.
template <ConvexFormulation F>
class IslandProblem : public IslandDofs {
 public:
  using Formulation = F;

  /// @param range   the island's slices of the arrays
  /// @param hessian the island's Hessian, see EliminationCache
  IslandProblem(const contact::ContactProblem& problem, const IslandRange& range,
                SolverArrays<F>* arrays, math::BlockSparseCholesky* hessian)
      : IslandDofs(problem, range, &arrays->layout, &arrays->dofs, hessian), arrays_(*arrays) {}

  /// Moves to the velocities v and starts again.
  void start_at(std::span<const double> v) {
    STICTION_ASSERT(static_cast<int>(v.size()) == range_.num_dofs);
    std::copy(v.begin(), v.end(), dofs_.v.data() + range_.dof_begin);
    num_secants_ = 0;
    start();
  }

  /// Computes the gradient and all impulses at the current point.
  /// @return |D g| and its scale [sqrt(J)]
  numerics::Residual calc_gradient() {
    calc_impulses();
    residual_ = calc_residual();
    return residual_;
  }
  /// Computes all impulses, and the gradient without its norm.
  void calc_impulses() {
    double* force = dofs_.force.data();
    std::fill_n(force + range_.dof_begin, range_.num_dofs, 0.0);
    for (PairSlice& pair : pairs()) {
      const PairVelocity V(pair_velocity(pair, dofs_.v.data()));
      std::optional<CompensatedMotion> compensated;
      if (is_compensated())
        compensated.emplace(problem_, segments(pair), dofs_.v.data(), dofs_.v_low.data());
      PairWrenchLanes wrench;
      for_each_batch(pair, [&](auto& batch) {
        batch.calc_velocity(V);
        if (compensated) compensated->set_velocity(problem_, &batch);
        batch.calc_impulse();
        batch.add_to(&wrench);
      });
      add_pair_force(pair, wrench.sum() * continuation_parameter_, force);
    }
    calc_row_impulses();
  }

  /// Computes Newton's direction d = -H^-1 g from the last gradient.
  /// @return false if H is not positive definite
  bool calc_direction() {
    stiffness_ = 0;
    const Curvature curvature = choose_curvature();
    if (is_one_free_body()) {
      set_direction_to_descent();
      return solve_free_body(curvature);
    }
    if (!factor_hessian(curvature)) return false;
    solve_direction();
    return true;
  }

  /// Computes Newton's direction from the last gradient with the last factor of H.
  void solve_direction() {
    set_direction_to_descent();
    solve_in_place(dofs_.direction.data());
  }

  /// Computes dv_c of all batches along the direction.
  void calc_contact_directions() {
    for (PairSlice& pair : pairs()) {
      const PairVelocity dV(pair_velocity(pair, dofs_.direction.data()));
      for_each_batch(pair, [&](auto& batch) { batch.calc_direction(dV); });
    }
  }

  /// Returns the length of a step that corrects rounding errors of the gradient alone [sqrt(J)]. A
  /// relative error epsilon of v changes the gradient by epsilon s |D A v| where the laws are s
  /// times as stiff as the inertia, and such a gradient makes a step of epsilon sqrt(s) |D A v|.
  /// Impulses that cancel each other change it by epsilon times their sizes.
  double calc_rounding_step() {
    constexpr double kUnit = 64 * std::numeric_limits<double>::epsilon();
    double impulses2 = 0;  // sum of w |gamma|^2 [J]
    for_each_batch([&](const auto& batch) {
      for (int lane = 0; lane < batch.source.num_contacts; ++lane) {
        const double gamma = batch.normal_impulse(lane);
        impulses2 += problem_.delassus[batch.source.contact[lane]] * gamma * gamma;
      }
    });
    for (const RowSlice& row : rows())
      for (const RowEntry& e : entries(row))
        impulses2 += dofs_.inv_diagonal[e.dof] * math::square(e.value * row.impulse.gamma);
    return kUnit * (std::sqrt(std::max(1.0, stiffness_)) * momentum_ + std::sqrt(impulses2));
  }

  /// Factors H at the point of the last gradient.
  /// @return false if H is not positive definite
  bool factor_hessian(Curvature curvature) {
    stiffness_ = 0;
    if (!start_hessian()) return false;
    for (const PairSlice& pair : pairs())
      add_pair_hessian(problem_, calc_pair_hessian(pair, curvature), segments(pair), &H_);
    add_row_hessians();
    return H_.factor();
  }

  /// Computes the response H^-1 J^T gamma of the solution to additional impulses at its contacts,
  /// as the direction, and dv_c of all batches. Uses the last factor of H.
  /// @param add_impulses (batch, PairWrenchLanes*) adds the additional impulses of a batch
  template <class AddImpulses>
  void calc_response(AddImpulses&& add_impulses) {
    double* direction = dofs_.direction.data();
    std::fill_n(direction + range_.dof_begin, range_.num_dofs, 0.0);
    for (PairSlice& pair : pairs()) {
      PairWrenchLanes wrench;
      for_each_batch(pair, [&](const auto& batch) { add_impulses(batch, &wrench); });
      add_pair_force(pair, wrench.sum(), direction);
    }
    solve_in_place(direction);
    calc_contact_directions();
  }

  /// Calls f(batch) for all batches of the island, in a fixed order.
  template <class Function>
  void for_each_batch(Function&& f) {
    for (PairSlice& pair : pairs()) for_each_batch(pair, f);
  }

  /// Prepares a line search along the direction.
  /// @return the slope g . d at the current point, < 0 for a descent direction [J]
  double start_line_search() {
    calc_contact_directions();
    return start_line();
  }

  /// Computes the derivatives of l(v + alpha d) with respect to alpha, linear in contacts and rows.
  numerics::Slope calc_slope(double alpha) {
    numerics::Slope at = momentum_slope(alpha);
    LineDerivatives contacts;
    for (PairSlice& pair : pairs()) {
      for_each_batch(pair, [&](const auto& batch) {
        const LineDerivatives line = batch.calc_line_derivatives(alpha);
        contacts.slope += line.slope;
        contacts.curvature += line.curvature;
      });
    }
    at.slope -= continuation_parameter_ * math::sum(contacts.slope);
    at.curvature += continuation_parameter_ * math::sum(contacts.curvature);
    add_row_slopes(alpha, &at);
    return at;
  }

  /// Multiplies the cost of all contacts, but not that of rows, by s in (0, 1].
  void set_continuation_parameter(double s) {
    STICTION_ASSERT(0 < s && s <= 1);
    continuation_parameter_ = s;
  }
  /// The largest product of a pair's curvature and mobility in the last Hessian [-].
  double stiffness() const { return stiffness_; }
  /// Returns the relative error of the gradient per relative error of v [-]. An error of v is an
  /// error of the momentum, which may be much larger than the impulses. The stiffness is computed
  /// again, because stiff contacts may have been open in the last Hessian, or no Hessian was
  /// computed.
  double sensitivity() {
    if (may_be_stiff()) add_stiffness();
    return stiffness_ * std::max(1.0, momentum_ / residual_.scale);
  }
  /// Computes stiffness() before the first Hessian.
  void find_stiffness() {
    (void)calc_gradient();
    add_stiffness();
  }
  /// Returns a step of at most max_step that keeps every contact in the domain of its law. It is at
  /// least two thirds of the longest such step, or 0 if rounding has moved the current point out of
  /// the domain. Requires a point in the domain and start_line_search.
  double calc_max_step(double max_step) requires HasDomain<F> {
    constexpr double kShortest = 1e-12;
    while (!is_extended_ && !is_feasible(max_step)) {
      if (max_step < kShortest) return 0;
      max_step *= 2.0 / 3;
    }
    return max_step;
  }
  /// True if at v + alpha d every contact has the impulse of its law, and not of a linear
  /// extension. Requires calc_gradient, and start_line_search unless alpha is 0.
  bool is_feasible(double alpha) requires HasDomain<F> {
    bool all = true;
    for (const PairSlice& pair : pairs())
      for_each_batch(pair, [&](const auto& batch) { all = all && batch.is_feasible(alpha); });
    return all;
  }
  /// Extends barriers linearly, see laws::Barrier. Source: [theory:barrier-domain].
  /// @param fraction distance at which the extension starts, relative to the thickness, > 0 [-]
  void extend_domain(double fraction) requires HasDomain<F> {
    STICTION_ASSERT(fraction > 0);
    is_extended_ = true;
    for_each_batch([&](auto& batch) { batch.extend_domain(fraction); });
  }
  /// Restores barriers that were extended.
  void restore_domain() requires HasDomain<F> {
    is_extended_ = false;
    for_each_batch([](auto& batch) { batch.restore_domain(); });
  }

 private:
  /// Raises stiffness() to the stiffness at the point of the last gradient.
  void add_stiffness() {
    for (const PairSlice& pair : pairs()) (void)calc_pair_hessian(pair, Curvature::kExact);
  }

  /// Calls f(batch) for the batches of a pair.
  template <class Function>
  void for_each_batch(const PairSlice& pair, Function&& f) {
    for (auto& batch : slice(arrays_.batches, pair.batch_begin, pair.batch_end)) f(batch);
    if constexpr (TakesTorsion<F>)
      for (auto& batch : slice(arrays_.torsion_batches, pair.torsion_begin, pair.torsion_end))
        f(batch);
  }

  bool solve_free_body(Curvature curvature) {
    const double* A = problem_.diagonal(layout_.blocks[range_.block_begin].block);
    math::SixBySix H = math::SixBySix::load(A, 6);
    for (const PairSlice& pair : pairs()) {
      const math::SixBySix G = calc_pair_hessian(pair, curvature);
      H += calc_free_body_hessian(G, *segments(pair)[0].segment);
    }
    return math::solve_six(H, dofs_.direction.data() + range_.dof_begin);
  }

  /// Sums Phi^T G Phi over the contacts of a pair, and raises stiffness() to that of the pair.
  math::SixBySix calc_pair_hessian(const PairSlice& pair, Curvature curvature) {
    PairHessianLanes G;
    for_each_batch(pair, [&](const auto& batch) { batch.add_to(&G, curvature); });
    math::SixBySix sum = G.sum();
    const double trace = sum.column[3][3] + sum.column[4][4] + sum.column[5][5];
    stiffness_ = std::max(stiffness_, trace * problem_.delassus[pair.contact_begin]);
    if (continuation_parameter_ != 1)
      for (math::Six& column : sum.column) column = column * continuation_parameter_;
    return sum;
  }

  SolverArrays<F>& arrays_;
  double stiffness_ = 0;
  double continuation_parameter_ = 1;  // s of numerics::StiffProblem
  bool is_extended_ = false;           // barriers are extended linearly
};

/// Minimizes the cost of an island by Newton's method, with continuation and compensated velocities
/// for stiff laws, and with linear extensions if the start is outside the domain of barriers.
template <ConvexFormulation F>
numerics::NewtonResult minimize_island(IslandProblem<F>* island,
                                       const numerics::NewtonOptions& options) {
  return numerics::minimize_stiff(
      *island, options, [](IslandProblem<F>& problem, const numerics::NewtonOptions& next) {
        if constexpr (HasDomain<F>) {
          problem.restore_domain();
          return numerics::minimize_from_anywhere(problem, next);
        } else {
          return numerics::minimize(problem, next);
        }
      });
}

}  // namespace stiction::formulations
