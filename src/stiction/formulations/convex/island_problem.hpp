#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/contact/residual_scale.hpp"
#include "stiction/formulations/convex/compensated_velocity.hpp"
#include "stiction/formulations/convex/laws.hpp"
#include "stiction/formulations/convex/solver_arrays.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/continuation.hpp"

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
class IslandProblem {
 public:
  /// @param range   the island's slices of the arrays
  /// @param hessian the island's Hessian, see EliminationCache
  IslandProblem(const contact::ContactProblem& problem, const IslandRange& range,
                SolverArrays<F>* arrays, math::BlockSparseCholesky* hessian)
      : problem_(problem),
        range_(range),
        arrays_(*arrays),
        layout_(arrays->layout),
        dofs_(arrays->dofs),
        H_(*hessian) {}

  /// The current point v, size num_dofs, in solver order.
  std::span<const double> velocities() const {
    return {dofs_.v.data() + range_.dof_begin, static_cast<std::size_t>(range_.num_dofs)};
  }

  /// Moves to the velocities v and starts again.
  void start_at(std::span<const double> v) {
    STICTION_ASSERT(static_cast<int>(v.size()) == range_.num_dofs);
    std::copy(v.begin(), v.end(), dofs_.v.data() + range_.dof_begin);
    num_secants_ = 0;
    start();
  }

  /// Prepares a solve from the current point. Computes A (v - v*), which every step then updates,
  /// and the smallest scale of residuals, see contact::kResolvedMomentum.
  void start() {
    multiply_by_A(dofs_.v_star.data(), dofs_.p_star.data());
    double p2 = 0, momentum2 = 0;
    for (int b = range_.block_begin; b < range_.block_end; ++b) {
      const BlockSlice& block = layout_.blocks[b];
      for (int i = 0; i < block.size; ++i) {
        const double D2 = dofs_.inv_diagonal[block.dof + i];
        p2 += D2 * math::square(problem_.free_impulse[block.problem_dof + i]);
        momentum2 += D2 * math::square(dofs_.p_star[block.dof + i]);
      }
    }
    double surfaces2 = 0;
    for (const PairSlice& pair : pairs())
      for (int i = pair.contact_begin; i < pair.contact_end; ++i)
        surfaces2 = std::max(surfaces2, contact::calc_surface_momentum2(problem_, i));
    momentum_ = std::sqrt(momentum2 + surfaces2);
    min_scale_ = std::max(std::sqrt(p2), contact::kResolvedMomentum * momentum_);
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i)
      dofs_.dv[i] = dofs_.v[i] - dofs_.v_star[i];
    multiply_by_A(dofs_.dv.data(), dofs_.dp.data());
  }

  /// Returns the motion V of a pair for velocities v in solver order.
  math::Six pair_velocity(const PairSlice& pair, const double* v) const {
    math::Six V = math::Six::zero();
    for (const SegmentBlock& s : segments(pair))
      V += contact::calc_segment_velocity(problem_, *s.segment, v + s.dof);
    return V;
  }

  /// Computes the gradient and all impulses at the current point.
  /// @return |D g| and its scale [sqrt(J)]
  numerics::Residual calc_gradient() {
    double* force = dofs_.force.data();
    std::fill_n(force + range_.dof_begin, range_.num_dofs, 0.0);
    for (PairSlice& pair : pairs()) {
      const PairVelocity V(pair_velocity(pair, dofs_.v.data()));
      std::optional<CompensatedMotion> compensated;
      if (is_compensated_)
        compensated.emplace(problem_, segments(pair), dofs_.v.data(), dofs_.v_low.data());
      PairWrenchLanes wrench;
      for_each_batch(pair, [&](auto& batch) {
        batch.calc_velocity(V);
        if (compensated) compensated->set_velocity(problem_, &batch);
        batch.calc_impulse();
        batch.add_to(&wrench);
      });
      const math::Six impulse = wrench.sum() * continuation_parameter_;
      for (const SegmentBlock& s : segments(pair))
        contact::add_segment_force(problem_, *s.segment, impulse, force + s.dof);
    }
    for (RowSlice& row : rows()) {
      row.v_r = row_velocity(row, dofs_.v.data()) + problem_.rows[row.row].bias;
      row.impulse = laws::calc_row_impulse(problem_.rows[row.row], row.v_r);
      for (const RowEntry& e : entries(row)) force[e.dof] += e.value * row.impulse.gamma;
    }
    residual_ = calc_residual();
    return residual_;
  }

  /// Computes Newton's direction d = -H^-1 g from the last gradient.
  /// @return false if H is not positive definite
  bool calc_direction() {
    stiffness_ = 0;
    // Far from the solution the exact curvature of friction and of stiff contacts is a poor model.
    // Use secants there. Secants much above the curvature make short steps, so the number of these
    // steps is limited.
    constexpr int kMaxSecants = 10;
    const bool takes_secant = is_far() && num_secants_ < kMaxSecants;
    num_secants_ += takes_secant;
    const Curvature curvature = takes_secant ? Curvature::kSecant : Curvature::kExact;
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

  /// True if the last residual is about as large as the impulses.
  bool is_far() const {
    constexpr double kFar = 0.5;
    return residual_.norm > kFar * residual_.scale;
  }

  /// True for islands of one free body without rows. Most islands of a settled scene are such
  /// islands. Their Hessian is one 6 x 6 matrix, which calc_direction inverts without a factor.
  bool is_one_free_body() const {
    if (range_.block_end - range_.block_begin != 1 || range_.row_begin != range_.row_end)
      return false;
    for (int p = range_.pair_begin; p < range_.pair_end; ++p)
      if (!segments(layout_.pairs[p])[0].segment->is_rigid_body) return false;
    return true;
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
    for (const RowSlice& row : rows()) add_row_hessian(row);
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
      const math::Six impulse = wrench.sum();
      for (const SegmentBlock& s : segments(pair))
        contact::add_segment_force(problem_, *s.segment, impulse, direction + s.dof);
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
    multiply_by_A(dofs_.direction.data(), dofs_.dp_direction.data());
    momentum_slope_ = 0;
    momentum_curvature_ = 0;
    double slope = 0;
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i) {
      const double d = dofs_.direction[i];
      momentum_slope_ += d * dofs_.dp[i];
      momentum_curvature_ += d * dofs_.dp_direction[i];
      slope += d * (dofs_.dp[i] - dofs_.force[i]);
    }
    calc_contact_directions();
    for (RowSlice& row : rows()) row.dv_r = row_velocity(row, dofs_.direction.data());
    return slope;
  }

  /// Computes the first and second derivative of l(v + alpha d) with respect to alpha, in a time
  /// proportional to the number of contacts and rows.
  numerics::Slope calc_slope(double alpha) {
    numerics::Slope at{momentum_slope_ + alpha * momentum_curvature_, momentum_curvature_};
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
    for (const RowSlice& row : rows()) {
      const laws::RowImpulse impulse =
          laws::calc_row_impulse(problem_.rows[row.row], row.v_r + alpha * row.dv_r);
      at.slope -= row.dv_r * impulse.gamma;
      at.curvature += row.dv_r * row.dv_r * impulse.stiffness;
    }
    return at;
  }

  /// Moves the current point by alpha d.
  /// @return |alpha d|_A [sqrt(J)]
  double move(double alpha) {
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i) {
      const double step = alpha * dofs_.direction[i];
      if (is_compensated_)
        add_to_compensated(step, &dofs_.v[i], &dofs_.v_low[i]);
      else
        dofs_.v[i] += step;
      dofs_.dp[i] += alpha * dofs_.dp_direction[i];
    }
    return alpha * std::sqrt(momentum_curvature_);
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
  /// Switches to compensated velocities v + v_low.
  /// @return false if velocities are compensated already
  bool refine() {
    if (is_compensated_) return false;
    is_compensated_ = true;
    std::fill_n(dofs_.v_low.data() + range_.dof_begin, range_.num_dofs, 0.0);
    return true;
  }
  bool is_compensated() const { return is_compensated_; }

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

  /// True if a contact is so stiff that the rounding of v may change its impulse noticeably.
  bool may_be_stiff() {
    constexpr double kStiff = 1e5;  // dimensionless stiffness k dt^2 w
    const double dt = problem_.time_step;
    for (const PairSlice& pair : pairs())
      for (int i = pair.contact_begin; i < pair.contact_end; ++i)
        if (find_stiffness_of(i) * dt * dt * problem_.delassus[i] > kStiff) return true;
    return false;
  }

  /// Returns the larger stiffness of a contact: along its normal, or of its anchor [N/m].
  double find_stiffness_of(int contact) const {
    const double normal = problem_.contacts[contact].law.stiffness;
    return problem_.anchors.empty() ? normal
                                    : std::max(normal, problem_.anchors[contact].stiffness);
  }

  /// Sets the direction to -g.
  void set_direction_to_descent() {
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i)
      dofs_.direction[i] = dofs_.force[i] - dofs_.dp[i];
  }

  /// Replaces x, in solver order, by H^-1 x.
  void solve_in_place(double* x) const {
    H_.solve_in_place({x + range_.dof_begin, static_cast<std::size_t>(range_.num_dofs)});
  }

  std::span<const SegmentBlock> segments(const PairSlice& pair) const {
    return {layout_.segments.data() + pair.segment_begin,
            layout_.segments.data() + pair.segment_end};
  }
  auto pairs() { return slice(layout_.pairs, range_.pair_begin, range_.pair_end); }
  auto rows() { return slice(layout_.rows, range_.row_begin, range_.row_end); }
  auto entries(const RowSlice& row) {
    return slice(layout_.row_entries, row.entry_begin, row.entry_end);
  }
  template <class T>
  static std::span<T> slice(std::vector<T>& items, int begin, int end) {
    return {items.data() + begin, items.data() + end};
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

  /// Computes J v of a row.
  double row_velocity(const RowSlice& row, const double* v) {
    double v_r = 0;
    for (const RowEntry& e : entries(row)) v_r += e.value * v[e.dof];
    return v_r;
  }

  /// Computes y = A x for the dofs of the island, in solver order.
  void multiply_by_A(const double* x, double* y) const {
    for (int b = range_.block_begin; b < range_.block_end; ++b) {
      const BlockSlice& block = layout_.blocks[b];
      const double* A = problem_.diagonal(block.block);
      if (block.size == 6) {
        math::multiply(A, 6, x + block.dof).store(y + block.dof);
        continue;
      }
      math::multiply({A, block.size, block.size}, x + block.dof, y + block.dof);
    }
    for (int c = range_.coupling_begin; c < range_.coupling_end; ++c) {
      const CouplingSlice& k = layout_.couplings[c];
      const math::MatrixView A(k.A, k.rows, k.columns);
      math::add_av<1>(A, x + k.column_dof, y + k.row_dof);
      math::add_atv(1, A, x + k.row_dof, y + k.column_dof);
    }
  }

  /// Computes |D g| and its scale from the momentum and the force.
  numerics::Residual calc_residual() const {
    double gradient = 0, impulse = 0;
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i) {
      const double D2 = dofs_.inv_diagonal[i];
      const double g = dofs_.dp[i] - dofs_.force[i];
      const double f = dofs_.force[i];
      gradient += D2 * g * g;
      impulse += D2 * f * f;
    }
    return {std::sqrt(gradient), std::max(min_scale_, std::sqrt(impulse))};
  }

  /// Sets H to A. Idle blocks are eliminated once per solve; later calls restore the Schur
  /// complement of A for the other blocks.
  /// @return false if the idle blocks of A are not positive definite
  bool start_hessian() {
    if (has_schur_complement_) {
      H_.restore_remaining();
      return true;
    }
    H_.start();
    add_momentum_matrix();
    if (range_.num_idle == 0) return true;
    has_schur_complement_ = true;
    return H_.eliminate_first(range_.num_idle);
  }

  void add_momentum_matrix() {
    for (int b = range_.block_begin; b < range_.block_end; ++b)
      H_.copy_diagonal(b - range_.block_begin, problem_.diagonal(layout_.blocks[b].block));
    for (int c = range_.coupling_begin; c < range_.coupling_end; ++c) {
      const CouplingSlice& coupling = layout_.couplings[c];
      H_.copy_off_diagonal(coupling.row_block, coupling.column_block, coupling.A);
    }
  }

  void add_row_hessian(const RowSlice& row) {
    if (row.impulse.stiffness == 0) return;
    const auto all = entries(row);
    for (const RowEntry& i : all) {
      for (const RowEntry& j : all) {
        if (j.block > i.block || (j.block == i.block && j.dof > i.dof)) continue;
        const auto to =
            i.block == j.block ? H_.diagonal(i.block) : H_.below_diagonal(i.block, j.block);
        to.data[i.dof_in_block + j.dof_in_block * to.stride] +=
            row.impulse.stiffness * i.value * j.value;
      }
    }
  }

  const contact::ContactProblem& problem_;
  const IslandRange& range_;
  SolverArrays<F>& arrays_;
  SolverLayout& layout_;
  DofArrays& dofs_;
  math::BlockSparseCholesky& H_;
  double momentum_ = 0;            // |D A v*|, with moving surfaces [sqrt(J)]
  double min_scale_ = 0;           // smallest scale of residuals [sqrt(J)]
  numerics::Residual residual_;    // at the point of the last gradient
  int num_secants_ = 0;            // number of directions that were computed with secants
  double momentum_slope_ = 0;      // d . A (v - v*)
  double momentum_curvature_ = 0;  // d . A d
  double stiffness_ = 0;
  double continuation_parameter_ = 1;  // s of numerics::StiffProblem
  bool is_extended_ = false;           // barriers are extended linearly
  bool has_schur_complement_ = false;
  bool is_compensated_ = false;
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
