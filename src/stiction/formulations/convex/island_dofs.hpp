#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"
#include "stiction/math/block_sparse_cholesky.hpp"
#include "stiction/numerics/newton.hpp"

namespace stiction::formulations {

/// The part of an island's convex problem that does not depend on the law of the contacts: the
/// current point v, its momentum A (v - v*), the scalar rows, and the matrices A and H.
class IslandDofs {
 public:
  /// The current point v, size num_dofs, in solver order.
  std::span<const double> velocities() const {
    return {dofs_.v.data() + range_.dof_begin, static_cast<std::size_t>(range_.num_dofs)};
  }
  /// Returns the motion V of a pair for velocities v in solver order.
  math::Six pair_velocity(const PairSlice& pair, const double* v) const {
    math::Six V = math::Six::zero();
    for (const SegmentBlock& s : segments(pair))
      V += contact::calc_segment_velocity(problem_, *s.segment, v + s.dof);
    return V;
  }

  /// Prepares a solve from the current point. Computes A (v - v*), which every step then updates,
  /// and the smallest scale of residuals, see contact::kResolvedMomentum.
  void start();
  /// Moves the current point by alpha d.
  /// @return |alpha d|_A [sqrt(J)]
  double move(double alpha);

  /// True for islands of one free body without rows. Most islands of a settled scene are such
  /// islands. Their Hessian is one 6 x 6 matrix, which calc_direction inverts without a factor.
  bool is_one_free_body() const;

  int num_dofs() const { return range_.num_dofs; }
  /// The residual at the point of the last gradient.
  const numerics::Residual& residual() const { return residual_; }
  /// True if the last residual is about as large as the impulses.
  bool is_far() const {
    constexpr double kFar = 0.5;
    return residual_.norm > kFar * residual_.scale;
  }
  /// Returns the number of impulses: three or six per contact, and one per row.
  int count_impulses() const {
    int num = range_.row_end - range_.row_begin;
    for (int p = range_.pair_begin; p < range_.pair_end; ++p) {
      const PairSlice& pair = layout_.pairs[p];
      num += 3 * (pair.contact_end - pair.contact_begin);
      for (int c = pair.contact_begin; c < pair.contact_end; ++c) num += 3 * is_six(pair, c);
    }
    return num;
  }
  /// True if a contact is so stiff that the rounding of v may change its impulse noticeably.
  bool may_be_stiff();

  /// Switches to compensated velocities v + v_low.
  /// @return false if velocities are compensated already
  bool refine();
  bool is_compensated() const { return is_compensated_; }

 protected:
  /// Returns the curvature of the next Hessian. Far from the solution the exact curvature of
  /// friction and of stiff contacts is a poor model, so secants take its place. Secants much above
  /// the curvature make short steps, so the number of these steps is limited.
  laws::Curvature choose_curvature() {
    constexpr int kMaxSecants = 10;
    const bool takes_secant = is_far() && num_secants_ < kMaxSecants;
    num_secants_ += takes_secant;
    return takes_secant ? laws::Curvature::kSecant : laws::Curvature::kExact;
  }

  /// True if a contact of a pair has six components.
  bool is_six(const PairSlice& pair, int contact) const {
    return pair.torsion_begin < pair.torsion_end && needs_torsion_law(problem_.contacts[contact]);
  }

  IslandDofs(const contact::ContactProblem& problem, const IslandRange& range, SolverLayout* layout,
             DofArrays* dofs, math::BlockSparseCholesky* hessian)
      : problem_(problem), range_(range), layout_(*layout), dofs_(*dofs), H_(*hessian) {}

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

  /// Adds J^T of an impulse on a pair to generalized impulses in solver order.
  void add_pair_force(const PairSlice& pair, const math::Six& impulse, double* force) const {
    for (const SegmentBlock& s : segments(pair))
      contact::add_segment_force(problem_, *s.segment, impulse, force + s.dof);
  }
  /// Computes all rows' velocities and impulses at the current point, and adds them to the force.
  void calc_row_impulses();
  /// Computes |D g| and its scale from the momentum and the force.
  numerics::Residual calc_residual() const;

  /// Sets the direction to -g.
  void set_direction_to_descent();
  /// Computes A d, and the velocities of rows along the direction d.
  /// @return the slope g . d at the current point, < 0 for a descent direction [J]
  double start_line();
  /// The derivatives of the kinetic energy at v + alpha d with respect to alpha.
  numerics::Slope momentum_slope(double alpha) const {
    return {momentum_slope_ + alpha * momentum_curvature_, momentum_curvature_};
  }
  /// Sets d . A (v - v*) and d . A d of a direction d.
  void set_momentum_line(double slope, double curvature) {
    momentum_slope_ = slope;
    momentum_curvature_ = curvature;
  }
  /// Adds the derivatives of the cost of all rows at v + alpha d.
  void add_row_slopes(double alpha, numerics::Slope* at);

  /// Sets H to A. Idle blocks are eliminated once per solve; later calls restore the Schur
  /// complement of A for the other blocks.
  /// @return false if the idle blocks of A are not positive definite
  bool start_hessian();
  /// Adds J^T G J of all rows to H.
  void add_row_hessians();
  /// Replaces x, in solver order, by H^-1 x.
  void solve_in_place(double* x) const {
    H_.solve_in_place({x + range_.dof_begin, static_cast<std::size_t>(range_.num_dofs)});
  }

  const contact::ContactProblem& problem_;
  const IslandRange& range_;
  SolverLayout& layout_;
  DofArrays& dofs_;
  math::BlockSparseCholesky& H_;
  double momentum_ = 0;          // |D A v*|, with moving surfaces [sqrt(J)]
  double min_scale_ = 0;         // smallest scale of residuals [sqrt(J)]
  numerics::Residual residual_;  // at the point of the last gradient
  int num_secants_ = 0;          // number of directions that were computed with secants

 private:
  double row_velocity(const RowSlice& row, const double* v);
  void multiply_by_A(const double* x, double* y) const;
  double find_stiffness_of(int contact) const;

  double momentum_slope_ = 0;      // d . A (v - v*)
  double momentum_curvature_ = 0;  // d . A d
  bool has_schur_complement_ = false;
  bool is_compensated_ = false;
};

}  // namespace stiction::formulations
