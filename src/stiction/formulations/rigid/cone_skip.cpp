#include "stiction/formulations/rigid/cone_skip.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/assert.hpp"
#include "stiction/formulations/rigid/cone_law.hpp"

namespace stiction::formulations {
namespace {

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
