#include "stiction/formulations/convex/island_dofs.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/scalar_functions.hpp"

namespace stiction::formulations {

void IslandDofs::start() {
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
  for (int i = begin; i < begin + range_.num_dofs; ++i) dofs_.dv[i] = dofs_.v[i] - dofs_.v_star[i];
  multiply_by_A(dofs_.dv.data(), dofs_.dp.data());
}

double IslandDofs::move(double alpha) {
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

bool IslandDofs::is_one_free_body() const {
  if (range_.block_end - range_.block_begin != 1 || range_.row_begin != range_.row_end)
    return false;
  for (int p = range_.pair_begin; p < range_.pair_end; ++p)
    if (!segments(layout_.pairs[p])[0].segment->is_rigid_body) return false;
  return true;
}

bool IslandDofs::refine() {
  if (is_compensated_) return false;
  is_compensated_ = true;
  std::fill_n(dofs_.v_low.data() + range_.dof_begin, range_.num_dofs, 0.0);
  return true;
}

void IslandDofs::calc_row_impulses() {
  for (RowSlice& row : rows()) {
    row.v_r = row_velocity(row, dofs_.v.data()) + problem_.rows[row.row].bias;
    row.impulse = laws::calc_row_impulse(problem_.rows[row.row], row.v_r);
    for (const RowEntry& e : entries(row)) dofs_.force[e.dof] += e.value * row.impulse.gamma;
  }
}

numerics::Residual IslandDofs::calc_residual() const {
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

void IslandDofs::set_direction_to_descent() {
  const int begin = range_.dof_begin;
  for (int i = begin; i < begin + range_.num_dofs; ++i)
    dofs_.direction[i] = dofs_.force[i] - dofs_.dp[i];
}

double IslandDofs::start_line() {
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
  for (RowSlice& row : rows()) row.dv_r = row_velocity(row, dofs_.direction.data());
  return slope;
}

void IslandDofs::add_row_slopes(double alpha, numerics::Slope* at) {
  for (const RowSlice& row : rows()) {
    const laws::RowImpulse impulse =
        laws::calc_row_impulse(problem_.rows[row.row], row.v_r + alpha * row.dv_r);
    at->slope -= row.dv_r * impulse.gamma;
    at->curvature += row.dv_r * row.dv_r * impulse.stiffness;
  }
}

bool IslandDofs::start_hessian() {
  if (has_schur_complement_) {
    H_.restore_remaining();
    return true;
  }
  H_.start();
  for (int b = range_.block_begin; b < range_.block_end; ++b)
    H_.copy_diagonal(b - range_.block_begin, problem_.diagonal(layout_.blocks[b].block));
  for (int c = range_.coupling_begin; c < range_.coupling_end; ++c) {
    const CouplingSlice& coupling = layout_.couplings[c];
    H_.copy_off_diagonal(coupling.row_block, coupling.column_block, coupling.A);
  }
  if (range_.num_idle == 0) return true;
  has_schur_complement_ = true;
  return H_.eliminate_first(range_.num_idle);
}

void IslandDofs::add_row_hessians() {
  for (const RowSlice& row : rows()) {
    if (row.impulse.stiffness == 0) continue;
    for (const RowEntry& i : entries(row)) {
      for (const RowEntry& j : entries(row)) {
        if (j.block > i.block || (j.block == i.block && j.dof > i.dof)) continue;
        const auto to =
            i.block == j.block ? H_.diagonal(i.block) : H_.below_diagonal(i.block, j.block);
        to.data[i.dof_in_block + j.dof_in_block * to.stride] +=
            row.impulse.stiffness * i.value * j.value;
      }
    }
  }
}

bool IslandDofs::may_be_stiff() {
  constexpr double kStiff = 1e5;  // dimensionless stiffness k dt^2 w
  const double dt = problem_.time_step;
  for (const PairSlice& pair : pairs())
    for (int i = pair.contact_begin; i < pair.contact_end; ++i)
      if (find_stiffness_of(i) * dt * dt * problem_.delassus[i] > kStiff) return true;
  return false;
}

/// Computes J v of a row.
double IslandDofs::row_velocity(const RowSlice& row, const double* v) {
  double v_r = 0;
  for (const RowEntry& e : entries(row)) v_r += e.value * v[e.dof];
  return v_r;
}

/// Computes y = A x for the dofs of the island, in solver order.
void IslandDofs::multiply_by_A(const double* x, double* y) const {
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

/// Returns the larger stiffness of a contact: along its normal, or of its anchor [N/m].
double IslandDofs::find_stiffness_of(int contact) const {
  const double normal = problem_.contacts[contact].law.stiffness;
  return problem_.anchors.empty() ? normal : std::max(normal, problem_.anchors[contact].stiffness);
}

}  // namespace stiction::formulations
