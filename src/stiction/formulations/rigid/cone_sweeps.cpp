#include "stiction/formulations/rigid/cone_sweeps.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/assert.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

using Delassus = std::array<double, 9>;

/// A contact whose normal velocity is 0, as a problem of its friction:
///
///     w_t = S r_t + s,   r_n = c + d^T r_t.
struct StoppedContact {
  double S[3];  // xx, xy, yy, >= 0
  double s[2], d[2];
  double c;

  StoppedContact(const Delassus& W, const BlockVector& q)
      : S{W[4] - W[1] * W[1] / W[0], W[5] - W[1] * W[2] / W[0], W[8] - W[2] * W[2] / W[0]},
        s{q[1] - W[1] * q[0] / W[0], q[2] - W[2] * q[0] / W[0]},
        d{-W[1] / W[0], -W[2] / W[0]},
        c(-q[0] / W[0]) {}

  /// Computes the impulse with (S + x I) r_t = -s, which is at the bound of friction at one x >= 0.
  BlockVector calc_impulse(double x) const {
    const double xx = S[0] + x, yy = S[2] + x, determinant = xx * yy - S[1] * S[1];
    if (!(determinant > 0)) return {c, 0, 0};
    const double t1 = (S[1] * s[1] - yy * s[0]) / determinant;
    const double t2 = (S[1] * s[0] - xx * s[1]) / determinant;
    return {c + d[0] * t1 + d[1] * t2, t1, t2};
  }
};

/// How far friction is beyond its bound [N s].
double calc_excess(const BlockVector& r, double mu) { return std::hypot(r[1], r[2]) - mu * r[0]; }

}  // namespace

BlockVector solve_one_contact(const Delassus& W, const BlockVector& q, double mu) {
  STICTION_ASSERT(W[0] > 0);
  if (q[0] >= 0) return {};
  const StoppedContact stopped(W, q);
  // Without slip, if friction suffices. A tiny share of the trace makes a singular S regular.
  const double trace = W[4] + W[8];
  double low = 1e-14 * trace, high = std::max(trace, 1e-300);
  const BlockVector stick = stopped.calc_impulse(low);
  if (calc_excess(stick, mu) <= 0) return stick;
  // With slip: friction is beyond its bound at `low`, and within it where x is large.
  constexpr int kMaxSteps = 100;
  for (int k = 0; k < kMaxSteps && calc_excess(stopped.calc_impulse(high), mu) > 0; ++k) high *= 8;
  for (int k = 0; k < kMaxSteps; ++k) {
    // The range may span many decades.
    const double middle = high > 4 * low ? std::sqrt(low * high) : 0.5 * (low + high);
    if (middle <= low || middle >= high) break;
    (calc_excess(stopped.calc_impulse(middle), mu) > 0 ? low : high) = middle;
  }
  BlockVector r = stopped.calc_impulse(high);
  r[0] = std::max(0.0, r[0]);
  return r;
}

void ConeSweeps::start(const ConeBlocks& blocks) {
  blocks_ = &blocks;
  delassus_.assign(blocks.size(), {});
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    const double* const rows = blocks.rows(block);
    for (int k = 0; k < block.num_rows; ++k)
      for (int l = 0; l < block.num_rows; ++l)
        delassus_[i][3 * k + l] = math::dot(block.num_columns, rows + k * block.num_columns,
                                            rows + l * block.num_columns);
  }
}

void ConeSweeps::sweep(double compliance, std::span<const BlockVector> p, std::span<double> u,
                       std::span<BlockVector> r) const {
  const ConeBlocks& blocks = *blocks_;
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    Delassus W = delassus_[i];
    if (block.mobility == 0) continue;
    // The velocity without the block's own impulse. The spring adds (r - p) / rho.
    BlockVector q = blocks.calc_velocity(block, u);
    const double spring = compliance * block.mobility;
    for (int k = 0; k < block.num_rows; ++k) {
      for (int l = 0; l < block.num_rows; ++l) q[k] -= W[3 * k + l] * r[i][l];
      q[k] -= spring * p[i][k];
      W[4 * k] += spring;
    }
    if (W[0] == 0) continue;
    BlockVector next{};
    switch (block.set) {
      case BlockSet::kHalfLine: next[0] = std::max(0.0, -q[0] / W[0]); break;
      case BlockSet::kInterval:
        next[0] = std::clamp(-q[0] / W[0], -block.bound, block.bound);
        break;
      case BlockSet::kCone: next = solve_one_contact(W, q, block.bound); break;
    }
    const BlockVector change = {next[0] - r[i][0], next[1] - r[i][1], next[2] - r[i][2]};
    blocks.add_impulse(block, change, u);
    r[i] = next;
  }
}

}  // namespace stiction::formulations
