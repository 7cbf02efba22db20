#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/contact/residual_scale.hpp"
#include "stiction/formulations/convex/fine_velocity.hpp"
#include "stiction/formulations/convex/laws.hpp"
#include "stiction/formulations/convex/solver_arrays.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/numerics/continuation.hpp"

namespace stiction::formulations {

/// The convex problem of one island as Newton's method sees it:
///
///     l(v) = 1/2 |v - v*|_A^2 + sum l_i(v_c,i),   g = A (v - v*) - J^T gamma,   H = A + J^T G J.
///
/// Contacts are evaluated four at a time, and act through their body pair: impulses sum to one
/// wrench and Hessians to one 6 x 6 matrix per pair before any Jacobian is touched.
template <ConvexFormulation F>
class IslandProblem {
 public:
  IslandProblem(const contact::ContactProblem& problem, const IslandRange& range,
                SolverArrays<F>* arrays, math::BlockSparseCholesky* hessian)
      : problem_(problem),
        range_(range),
        arrays_(*arrays),
        layout_(arrays->layout),
        dofs_(arrays->dofs),
        H_(*hessian) {}

  /// The current point, of size num_dofs in solver order.
  std::span<const double> velocities() const {
    return {dofs_.v.data() + range_.dof_begin, static_cast<std::size_t>(range_.num_dofs)};
  }

  /// Starts at other velocities.
  void start_at(std::span<const double> v) {
    STICTION_ASSERT(static_cast<int>(v.size()) == range_.num_dofs);
    std::copy(v.begin(), v.end(), dofs_.v.data() + range_.dof_begin);
    num_secants_ = 0;
    start();
  }

  /// A (v - v*), once before the solve; it then follows each step. And what residuals are measured
  /// by where contacts give no impulse.
  void start() {
    double* const momentum = dofs_.dp.data();
    multiply_by_A(dofs_.v_star.data(), momentum);
    double given = 0, all = 0;
    for (int b = range_.block_begin; b < range_.block_end; ++b) {
      const BlockSlice& block = layout_.blocks[b];
      for (int i = 0; i < block.size; ++i) {
        const double D2 = dofs_.inv_diagonal[block.dof + i];
        given += D2 * std::pow(problem_.free_impulse[block.problem_dof + i], 2);
        all += D2 * std::pow(momentum[block.dof + i], 2);
      }
    }
    momentum_ = std::sqrt(all);
    min_scale_ = std::max(std::sqrt(given), contact::kResolvedMomentum * momentum_);
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i)
      dofs_.direction[i] = dofs_.v[i] - dofs_.v_star[i];
    multiply_by_A(dofs_.direction.data(), dofs_.dp.data());
  }

  /// V of a pair for the dofs v in solver order.
  math::Six pair_velocity(const PairSlice& pair, const double* v) const {
    math::Six V = math::Six::zero();
    for (const SegmentBlock& s : segments(pair))
      V += contact::calc_segment_velocity(problem_, *s.segment, v + s.dof);
    return V;
  }

  numerics::Residual calc_gradient() {
    double* force = dofs_.force.data();
    std::fill_n(force + range_.dof_begin, range_.num_dofs, 0.0);
    for (PairSlice& pair : pairs()) {
      const PairVelocity V(pair_velocity(pair, dofs_.v.data()));
      std::optional<FineMotion> fine;
      if (is_fine_) fine.emplace(problem_, segments(pair), dofs_.v.data(), dofs_.v_rest.data());
      PairWrenchLanes wrench;
      for_each_batch(pair, [&](auto& batch) {
        batch.calc_velocity(V);
        if (fine) fine->set_velocity(problem_, &batch);
        batch.calc_impulse();
        batch.add_to(&wrench);
      });
      const math::Six impulse = wrench.sum() * continuation_parameter_;
      for (const SegmentBlock& s : segments(pair))
        contact::add_segment_force(problem_, *s.segment, impulse, force + s.dof);
    }
    for (RowSlice& row : rows()) {
      row.v_r = row_velocity(row, dofs_.v.data());
      row.impulse = laws::calc_row_impulse(problem_.rows[row.row], row.v_r);
      for (const RowEntry& e : entries(row)) force[e.dof] += e.value * row.impulse.gamma;
    }
    residual_ = calc_residual();
    return residual_;
  }

  bool calc_direction() {
    stiffness_ = 0;
    // Where the imbalance is of the order of the impulses themselves, the exact curvature says
    // little about where a bounded friction or a stiff contact will end.
    constexpr double kFar = 0.5;
    // Secant slopes creep where they are far above the curvature: they are not used for long.
    constexpr int kMaxSecants = 10;
    const bool is_far = residual_.norm > kFar * residual_.scale && num_secants_ < kMaxSecants;
    num_secants_ += is_far;
    const Curvature curvature = is_far ? Curvature::kSecant : Curvature::kExact;
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i)
      dofs_.direction[i] = dofs_.force[i] - dofs_.dp[i];
    if (is_one_free_body()) return solve_free_body(curvature);
    if (!factor_hessian(curvature)) return false;
    solve_in_place(dofs_.direction.data());
    return true;
  }

  /// H at the last gradient's point.
  /// @return false if it is not positive definite
  bool factor_hessian(Curvature curvature) {
    if (!start_hessian()) return false;
    for (const PairSlice& pair : pairs())
      add_pair_hessian(problem_, calc_pair_hessian(pair, curvature), segments(pair), &H_);
    for (const RowSlice& row : rows()) add_row_hessian(row);
    return H_.factor();
  }

  /// How the solution answers to further impulses at its contacts: the direction H^-1 J^T gamma,
  /// with H as factor_hessian left it, and the batches' dv_c along it.
  /// @param add_impulses (batch, PairWrenchLanes*): adds the impulses gamma of the batch
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

  /// Calls f(batch) for all contacts of the island, always in the same order.
  template <class Function>
  void for_each_batch(Function&& f) {
    for (PairSlice& pair : pairs()) for_each_batch(pair, f);
  }

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

  double move(double alpha) {
    const int begin = range_.dof_begin;
    for (int i = begin; i < begin + range_.num_dofs; ++i) {
      const double step = alpha * dofs_.direction[i];
      if (is_fine_)
        add_to_fine(step, &dofs_.v[i], &dofs_.v_rest[i]);
      else
        dofs_.v[i] += step;
      dofs_.dp[i] += alpha * dofs_.dp_direction[i];
    }
    return alpha * std::sqrt(momentum_curvature_);
  }

  /// Multiplies the cost of all contacts, but not of rows, by s in (0, 1].
  void set_continuation_parameter(double s) {
    STICTION_ASSERT(0 < s && s <= 1);
    continuation_parameter_ = s;
  }
  /// Of the last Hessian, the largest product of a pair's curvature and mobility [-].
  double stiffness() const { return stiffness_; }
  /// A relative error of v is one of the momentum, which may be far above the impulses. The last
  /// Hessian may be of a point at which stiff contacts were open, or there is none.
  double sensitivity() {
    if (may_be_stiff()) measure_stiffness();
    return stiffness_ * std::max(1.0, momentum_ / residual_.scale);
  }
  /// Makes stiffness() known before the first Hessian.
  void find_stiffness() {
    (void)calc_gradient();
    measure_stiffness();
  }
  /// From here on velocities have more digits: v + v_rest.
  /// @return false if they have already
  bool refine() {
    if (is_fine_) return false;
    is_fine_ = true;
    std::fill_n(dofs_.v_rest.data() + range_.dof_begin, range_.num_dofs, 0.0);
    return true;
  }
  bool is_fine() const { return is_fine_; }

  /// The longest step up to max_step that keeps every contact in its law's domain, to within a
  /// third; from a point in it, and after start_line_search. 0 where rounding has put the point
  /// itself beyond.
  double calc_max_step(double max_step) requires HasDomain<F> {
    constexpr double kShortest = 1e-12;
    while (!is_soft_ && !is_feasible(max_step)) {
      if (max_step < kShortest) return 0;
      max_step *= 2.0 / 3;
    }
    return max_step;
  }
  /// True if every contact has its law's own impulse a step away; after calc_gradient.
  bool is_feasible(double alpha) requires HasDomain<F> {
    bool all = true;
    for (const PairSlice& pair : pairs())
      for_each_batch(pair, [&](const auto& batch) { all = all && batch.is_feasible(alpha); });
    return all;
  }
  /// Makes laws that have a domain go on linearly, from a fraction of the way to its border on; 0:
  /// no more.
  void extend_domain(double fraction) requires HasDomain<F> {
    is_soft_ = fraction > 0;
    for (const PairSlice& pair : pairs())
      for_each_batch(pair, [&](auto& batch) { batch.soften(fraction); });
  }

 private:
  /// Makes stiffness() at least that of the last gradient's point.
  void measure_stiffness() {
    for (const PairSlice& pair : pairs()) (void)calc_pair_hessian(pair, Curvature::kExact);
  }

  /// True if the spring of a contact is stiff enough for rounding of v to show.
  bool may_be_stiff() {
    constexpr double kStiff = 1e5;  // k dt^2 w [-]
    const double dt = problem_.time_step;
    for (const PairSlice& pair : pairs())
      for (int i = pair.contact_begin; i < pair.contact_end; ++i)
        if (problem_.contacts[i].law.stiffness * dt * dt * problem_.delassus[i] > kStiff)
          return true;
    return false;
  }

  /// dv_c of the direction.
  void calc_contact_directions() {
    for (PairSlice& pair : pairs()) {
      const PairVelocity dV(pair_velocity(pair, dofs_.direction.data()));
      for_each_batch(pair, [&](auto& batch) { batch.calc_direction(dV); });
    }
  }

  /// x <- H^-1 x, in solver order.
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

  /// Calls f(batch) for the pair's contacts, four at a time.
  template <class Function>
  void for_each_batch(const PairSlice& pair, Function&& f) {
    for (auto& batch : slice(arrays_.batches, pair.batch_begin, pair.batch_end)) f(batch);
    if constexpr (TakesTorsion<F>)
      for (auto& batch : slice(arrays_.torsion_batches, pair.torsion_begin, pair.torsion_end))
        f(batch);
  }

  /// Most islands of a settled scene are: their Hessian needs no pattern.
  bool is_one_free_body() const {
    if (range_.block_end - range_.block_begin != 1 || range_.row_begin != range_.row_end)
      return false;
    for (int p = range_.pair_begin; p < range_.pair_end; ++p)
      if (!segments(layout_.pairs[p])[0].segment->is_rigid_body) return false;
    return true;
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

  double row_velocity(const RowSlice& row, const double* v) {
    double v_r = 0;
    for (const RowEntry& e : entries(row)) v_r += e.value * v[e.dof];
    return v_r;
  }

  /// y = A x for the island's dofs.
  void multiply_by_A(const double* x, double* y) const {
    for (int b = range_.block_begin; b < range_.block_end; ++b) {
      const BlockSlice& block = layout_.blocks[b];
      const double* A = problem_.diagonal(block.block);
      if (block.size == 6) {
        math::multiply(A, 6, x + block.dof).store(y + block.dof);
        continue;
      }
      std::fill_n(y + block.dof, block.size, 0.0);
      math::add_av(1, block.size, block.size, A, block.size, x + block.dof, y + block.dof);
    }
    for (int c = range_.coupling_begin; c < range_.coupling_end; ++c) {
      const CouplingSlice& k = layout_.couplings[c];
      math::add_av(1, k.rows, k.columns, k.A, k.rows, x + k.column_dof, y + k.row_dof);
      math::add_atv(1, k.rows, k.columns, k.A, k.rows, x + k.row_dof, y + k.column_dof);
    }
  }

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

  /// A, or of dofs that constraints touch what is left of it when the others are eliminated: once a
  /// solve.
  bool start_hessian() {
    if (has_schur_complement_) {
      H_.restore_remaining();
      return true;
    }
    H_.set_zero();
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
  double momentum_ = 0;            // |D A v*|
  double min_scale_ = 0;           // of residuals, see start
  numerics::Residual residual_;    // at the current point
  int num_secants_ = 0;            // directions from secant slopes
  double momentum_slope_ = 0;      // d . A (v - v*)
  double momentum_curvature_ = 0;  // d . A d
  double stiffness_ = 0;
  double continuation_parameter_ = 1;  // s of numerics::StiffProblem
  bool is_soft_ = false;
  bool has_schur_complement_ = false;
  bool is_fine_ = false;
};

/// Newton's method, from anywhere if the laws have a domain, and however stiff they are.
template <ConvexFormulation F>
numerics::NewtonResult minimize_island(IslandProblem<F>* island,
                                       const numerics::NewtonOptions& options) {
  return numerics::minimize_stiff(
      *island, options, [](IslandProblem<F>& problem, const numerics::NewtonOptions& next) {
        if constexpr (HasDomain<F>) {
          problem.extend_domain(0);
          return numerics::minimize_from_anywhere(problem, next);
        } else {
          return numerics::minimize(problem, next);
        }
      });
}

}  // namespace stiction::formulations
