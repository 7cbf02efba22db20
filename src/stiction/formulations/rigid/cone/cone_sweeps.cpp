#include "stiction/formulations/rigid/cone/cone_sweeps.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/cone/cone_blocks.hpp"
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
double calc_excess(const BlockVector& r, double mu) {
  return std::sqrt(r[1] * r[1] + r[2] * r[2]) - mu * r[0];
}

/// Returns the impulse of a contact that slips, at the root x of calc_excess between `low`, where
/// friction is beyond its bound, and `high`, where it is within it. The range may span many
/// decades, so it is halved on a logarithmic scale first. The end is the Illinois method.
BlockVector find_slip(const StoppedContact& stopped, double mu, double low, double high) {
  constexpr int kMaxSteps = 100;
  constexpr double kWideRange = 4, kPrecision = 1e-15;
  BlockVector best = stopped.calc_impulse(high);
  double excess_low = calc_excess(stopped.calc_impulse(low), mu);
  double excess_high = calc_excess(best, mu);
  int side = 0;  // the end that moved last
  for (int k = 0; k < kMaxSteps && excess_high < 0 && high - low > kPrecision * high; ++k) {
    const bool is_wide = high > kWideRange * low;
    const double secant = low + (high - low) * excess_low / (excess_low - excess_high);
    const double x = is_wide ? std::sqrt(low * high) : secant;
    if (!(x > low && x < high)) break;
    const BlockVector r = stopped.calc_impulse(x);
    const double excess = calc_excess(r, mu);
    const int moved = excess > 0 ? -1 : 1;
    (moved < 0 ? low : high) = x;
    (moved < 0 ? excess_low : excess_high) = excess;
    if (moved > 0) best = r;
    // An end that stays counts half, or the secant would approach the root from one side only.
    if (!is_wide && moved == side) (moved < 0 ? excess_high : excess_low) *= 0.5;
    side = is_wide ? 0 : moved;
  }
  return best;
}

/// Room of a cone, relative to its squared bound, below which the contact counts as slipping.
constexpr double kBoundRoundOff = 1e-12;

/// Returns the x > 0 at which r + x d leaves the cone |t| <= mu n, the smaller root of
///
///     mu^2 (r_n + x d_n)^2 - |r_t + x d_t|^2 = c + 2 b x + a x^2.
double find_way_in_cone(double mu, const BlockVector& r, const BlockVector& d) {
  const double bound = mu * r[0], growth = mu * d[0];
  const double c = bound * bound - r[1] * r[1] - r[2] * r[2];
  if (c <= kBoundRoundOff * bound * bound) return d[0] < 0 ? -r[0] / d[0] : kInfinity;
  const double b = bound * growth - r[1] * d[1] - r[2] * d[2];
  const double a = growth * growth - d[1] * d[1] - d[2] * d[2];
  const double square = b * b - a * c;
  const double divisor = square >= 0 ? std::sqrt(square) - b : 0;
  return divisor > 0 ? c / divisor : kInfinity;
}

double find_way(const ConeBlock& block, const BlockVector& r, const BlockVector& d) {
  switch (block.set) {
    case BlockSet::kHalfLine: break;
    case BlockSet::kInterval:
      return d[0] == 0 ? kInfinity : (std::copysign(block.bound, d[0]) - r[0]) / d[0];
    case BlockSet::kCone: return r[0] > 0 ? find_way_in_cone(block.bound, r, d) : kInfinity;
  }
  return d[0] < 0 ? -r[0] / d[0] : kInfinity;
}

}  // namespace

BlockVector solve_one_contact(const Delassus& W, const BlockVector& q, double mu) {
  STICTION_ASSERT(W[0] > 0);
  if (q[0] >= 0) return {};
  const StoppedContact stopped(W, q);
  // Without slip, if friction suffices. A tiny share of the trace makes a singular S regular.
  const double trace = W[4] + W[8];
  const double low = 1e-14 * trace;
  const BlockVector stick = stopped.calc_impulse(low);
  if (calc_excess(stick, mu) <= 0) return stick;
  // With slip: friction is within its bound where x is large.
  double high = std::max(trace, 1e-300);
  constexpr int kMaxSteps = 100;
  for (int k = 0; k < kMaxSteps && calc_excess(stopped.calc_impulse(high), mu) > 0; ++k) high *= 8;
  BlockVector r = find_slip(stopped, mu, low, high);
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

double count_steps_to_bound(const ConeBlocks& blocks, std::span<const BlockVector> r,
                            std::span<const BlockVector> change) {
  STICTION_ASSERT(r.size() == change.size() && static_cast<int>(r.size()) == blocks.size());
  double count = kInfinity;
  for (int i = 0; i < blocks.size(); ++i)
    count = std::min(count, find_way(blocks[i], r[i], change[i]));
  return count;
}

void add_steps(const ConeBlocks& blocks, double count, std::span<const BlockVector> r,
               std::span<const BlockVector> change, std::vector<BlockVector>* out) {
  STICTION_ASSERT(r.size() == change.size() && static_cast<int>(r.size()) == blocks.size());
  out->resize(r.size());
  for (int i = 0; i < blocks.size(); ++i) {
    BlockVector q = r[i];
    for (int k = 0; k < 3; ++k) q[k] += count * change[i][k];
    (void)project_impulse(blocks[i], q, &(*out)[i]);
  }
}

}  // namespace stiction::formulations
