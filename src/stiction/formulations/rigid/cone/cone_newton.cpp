#include "stiction/formulations/rigid/cone/cone_newton.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

void DofOrder::find(const ConeBlocks& blocks) {
  list_blocks_of_dofs(blocks);
  const int n = blocks.num_dofs();
  place_.assign(n, -1);
  int num_placed = 0;
  for (int dof = 0; dof < n; ++dof) {
    if (place_[dof] >= 0) continue;
    // The last dof of a search is at the rim of the graph, from where the levels are narrow.
    search_from(dof, blocks);
    search_from(queue_.back(), blocks);
    for (const int reached : queue_) place_[reached] = num_placed++;
  }
}

void DofOrder::list_blocks_of_dofs(const ConeBlocks& blocks) {
  first_.assign(blocks.num_dofs() + 1, 0);
  for (int i = 0; i < blocks.size(); ++i)
    for (const int dof : blocks.columns(blocks[i])) ++first_[dof + 1];
  for (int dof = 0; dof < blocks.num_dofs(); ++dof) first_[dof + 1] += first_[dof];
  blocks_of_.resize(first_.back());
  next_.assign(first_.begin(), first_.end());
  for (int i = 0; i < blocks.size(); ++i)
    for (const int dof : blocks.columns(blocks[i])) blocks_of_[next_[dof]++] = i;
}

/// Lists the dofs that blocks connect with a dof, nearest first.
void DofOrder::search_from(int dof, const ConeBlocks& blocks) {
  is_done_.assign(blocks.size(), 0);
  is_reached_.assign(blocks.num_dofs(), 0);
  queue_.assign(1, dof);
  is_reached_[dof] = 1;
  for (std::size_t k = 0; k < queue_.size(); ++k) {
    for (int at = first_[queue_[k]]; at < first_[queue_[k] + 1]; ++at) {
      const int block = blocks_of_[at];
      if (is_done_[block]) continue;
      is_done_[block] = 1;
      for (const int other : blocks.columns(blocks[block])) {
        if (is_reached_[other]) continue;
        is_reached_[other] = 1;
        queue_.push_back(other);
      }
    }
  }
}

void ConeSprings::start(const ConeBlocks& blocks) {
  blocks_ = &blocks;
  order_.find(blocks);
  lu_.start(blocks.num_dofs());
  for (int i = 0; i < blocks.size(); ++i) {
    const std::span<const int> columns = blocks.columns(blocks[i]);
    int first = blocks.num_dofs();
    for (const int column : columns) first = std::min(first, order_[column]);
    for (const int column : columns) lu_.widen(order_[column], first);
  }
}

void ConeSprings::evaluate(double stiffness, std::span<const BlockVector> p,
                           std::span<const double> u, SpringPoint* out) const {
  const ConeBlocks& blocks = *blocks_;
  STICTION_ASSERT(static_cast<int>(p.size()) == blocks.size());
  out->q.resize(blocks.size());
  out->r.resize(blocks.size());
  out->states.resize(blocks.size());
  out->F.assign(u.begin(), u.end());
  for (int i = 0; i < blocks.num_dofs(); ++i) out->F[i] -= blocks.u_hat()[i];
  double terms = math::dot(blocks.num_dofs(), u.data(), u.data());
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    const BlockVector w = blocks.calc_velocity(block, u);
    const double rho = block.mobility > 0 ? stiffness / block.mobility : 0;
    for (int k = 0; k < 3; ++k) out->q[i][k] = p[i][k] - rho * w[k];
    out->states[i] = project_impulse(block, out->q[i], &out->r[i]);
    if (block.mobility == 0) out->r[i] = {};
    const BlockVector minus = {-out->r[i][0], -out->r[i][1], -out->r[i][2]};
    blocks.add_impulse(block, minus, out->F);
    for (int k = 0; k < block.num_rows; ++k) terms += block.mobility * out->r[i][k] * out->r[i][k];
  }
  out->norm = math::norm(out->F);
  // A rounded velocity is off by some units in the last place, and its impulse by rho times that.
  out->round_off = kConeRoundOff * stiffness * std::sqrt(terms);
}

bool ConeSprings::factor(double stiffness, const SpringPoint& at) {
  const ConeBlocks& blocks = *blocks_;
  lu_.allocate();
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    if (at.states[i] == BlockState::kOpen || block.mobility == 0) continue;
    const BlockMatrix D = differentiate_projection(block, at.states[i], at.q[i]);
    const double rho = stiffness / block.mobility;
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
  return lu_.factor();
}

bool ConeSprings::solve_negative(std::span<const double> f, std::vector<double>* x) {
  const int n = blocks_->num_dofs();
  scratch_.resize(n);
  x->resize(n);
  for (int i = 0; i < n; ++i) scratch_[order_[i]] = -f[i];
  lu_.solve(scratch_);
  for (int i = 0; i < n; ++i) (*x)[i] = scratch_[order_[i]];
  return math::all_finite(n, x->data());
}

void ConeNewton::start(ConeSprings* springs) {
  springs_ = springs;
  iterations_ = 0;
}

bool ConeNewton::solve(double stiffness, std::span<const BlockVector> p, std::vector<double>* u) {
  STICTION_ASSERT(springs_ != nullptr);
  stiffness_ = stiffness;
  p_ = p;
  springs_->evaluate(stiffness_, p_, *u, &at_);
  for (int k = 0; k < kMaxConeNewtonSteps; ++k) {
    if (at_.norm <= at_.round_off) return true;
    base::count_iteration();
    ++iterations_;
    if (!calc_direction() || !search(u)) break;
  }
  // The last digits may not decrease any more.
  return at_.norm <= kConeNewtonSlack * at_.round_off;
}

/// Solves M d = -F. M has no row exchanges, so the result is checked.
bool ConeNewton::calc_direction() {
  return springs_->factor(stiffness_, at_) && springs_->solve_negative(at_.F, &direction_);
}

/// Moves u along the direction until |F| decreases.
/// @return false if no step decreases it
bool ConeNewton::search(std::vector<double>* u) {
  for (double step = 1; step >= kLeastConeNewtonStep; step *= 0.5) {
    trial_ = *u;
    math::add_multiple(static_cast<int>(u->size()), step, direction_.data(), trial_.data());
    springs_->evaluate(stiffness_, p_, trial_, &next_);
    if (!(next_.norm < (1 - kConeNewtonDecrease * step) * at_.norm)) continue;
    std::swap(at_, next_);
    u->swap(trial_);
    return true;
  }
  return false;
}

}  // namespace stiction::formulations
