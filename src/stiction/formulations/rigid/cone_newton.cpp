#include "stiction/formulations/rigid/cone_newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/cone_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

void ConeNewton::start(const ConeBlocks& blocks) {
  blocks_ = &blocks;
  iterations_ = 0;
  order_.find(blocks);
  lu_.start(blocks.num_dofs());
  for (int i = 0; i < blocks.size(); ++i) {
    const std::span<const int> columns = blocks.columns(blocks[i]);
    int first = blocks.num_dofs();
    for (const int column : columns) first = std::min(first, order_[column]);
    for (const int column : columns) lu_.widen(order_[column], first);
  }
}

bool ConeNewton::solve(double stiffness, std::span<const BlockVector> p, std::vector<double>* u) {
  STICTION_ASSERT(blocks_ != nullptr && static_cast<int>(p.size()) == blocks_->size());
  stiffness_ = stiffness;
  p_ = p;
  evaluate(*u, &at_);
  for (int k = 0; k < kMaxConeNewtonSteps; ++k) {
    if (at_.norm <= at_.round_off) return true;
    base::count_iteration();
    ++iterations_;
    if (!calc_direction() || !search(u)) break;
  }
  // The last digits may not decrease any more.
  return at_.norm <= kConeNewtonSlack * at_.round_off;
}

/// Computes the impulses and F at a motion.
void ConeNewton::evaluate(std::span<const double> u, Point* out) const {
  const ConeBlocks& blocks = *blocks_;
  out->q.resize(blocks.size());
  out->r.resize(blocks.size());
  out->states.resize(blocks.size());
  out->F.assign(u.begin(), u.end());
  for (int i = 0; i < blocks.num_dofs(); ++i) out->F[i] -= blocks.u_hat()[i];
  double terms = math::dot(blocks.num_dofs(), u.data(), u.data());
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    const BlockVector w = blocks.calc_velocity(block, u);
    const double rho = block.mobility > 0 ? stiffness_ / block.mobility : 0;
    for (int k = 0; k < 3; ++k) out->q[i][k] = p_[i][k] - rho * w[k];
    out->states[i] = project_impulse(block, out->q[i], &out->r[i]);
    if (block.mobility == 0) out->r[i] = {};
    const BlockVector minus = {-out->r[i][0], -out->r[i][1], -out->r[i][2]};
    blocks.add_impulse(block, minus, out->F);
    for (int k = 0; k < block.num_rows; ++k) terms += block.mobility * out->r[i][k] * out->r[i][k];
  }
  out->norm = math::norm(out->F);
  // A rounded velocity is off by some units in the last place, and its impulse by rho times that.
  out->round_off = kConeRoundOff * stiffness_ * std::sqrt(terms);
}

/// Solves M d = -F with M = I + sum rho G^T D G. M has no row exchanges, so the result is checked.
bool ConeNewton::calc_direction() {
  const ConeBlocks& blocks = *blocks_;
  lu_.allocate();
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    if (at_.states[i] == BlockState::kOpen || block.mobility == 0) continue;
    const BlockMatrix D = differentiate_projection(block, at_.states[i], at_.q[i]);
    const double rho = stiffness_ / block.mobility;
    const std::span<const int> columns = blocks.columns(block);
    const double* const rows = blocks.rows(block);
    const int n = block.num_columns;
    // X = rho D G, and then the columns of G^T X.
    X_.assign(static_cast<std::size_t>(block.num_rows) * n, 0.0);
    for (int k = 0; k < block.num_rows; ++k)
      for (int l = 0; l < block.num_rows; ++l)
        if (D[3 * k + l] != 0) math::add_multiple(n, rho * D[3 * k + l], rows + l * n, &X_[k * n]);
    for (int c = 0; c < n; ++c) {
      column_.assign(n, 0.0);
      for (int k = 0; k < block.num_rows; ++k)
        math::add_multiple(n, X_[k * n + c], rows + k * n, column_.data());
      for (int r = 0; r < n; ++r) lu_.add(order_[columns[r]], order_[columns[c]], column_[r]);
    }
  }
  if (!lu_.factor()) return false;
  scratch_.resize(blocks.num_dofs());
  direction_.resize(blocks.num_dofs());
  for (int i = 0; i < blocks.num_dofs(); ++i) scratch_[order_[i]] = -at_.F[i];
  lu_.solve(scratch_);
  for (int i = 0; i < blocks.num_dofs(); ++i) direction_[i] = scratch_[order_[i]];
  return math::all_finite(blocks.num_dofs(), direction_.data());
}

/// Moves u along the direction until |F| decreases.
/// @return false if no step decreases it
bool ConeNewton::search(std::vector<double>* u) {
  for (double step = 1; step >= kLeastConeNewtonStep; step *= 0.5) {
    trial_ = *u;
    math::add_multiple(static_cast<int>(u->size()), step, direction_.data(), trial_.data());
    evaluate(trial_, &next_);
    if (!(next_.norm < (1 - kConeNewtonDecrease * step) * at_.norm)) continue;
    std::swap(at_, next_);
    u->swap(trial_);
    return true;
  }
  return false;
}

}  // namespace stiction::formulations
