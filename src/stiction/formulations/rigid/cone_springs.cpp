#include "stiction/formulations/rigid/cone_springs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/cone_tolerances.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

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

}  // namespace stiction::formulations
