#include "stiction/formulations/rigid/cone_jam.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stiction/base/assert.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {
namespace {

/// Returns the nearest point of the cone |r_t| <= mu r_n.
BlockVector project_on_cone(double mu, const BlockVector& r) {
  const double friction = math::hypot(r[1], r[2]);
  if (friction <= mu * r[0]) return r;
  const double normal = std::max(0.0, (r[0] + mu * friction) / (1 + mu * mu));
  const double scale = mu * normal / friction;
  return {normal, scale * r[1], scale * r[2]};
}

/// Returns the nearest impulse that may act whatever the motion. Dry friction of joints proves
/// nothing, because its bound does not grow.
BlockVector project(const ConeBlock& block, const BlockVector& r) {
  if (block.mobility == 0 || block.set == BlockSet::kInterval) return {};
  if (block.set == BlockSet::kHalfLine) return {std::max(0.0, r[0]), 0, 0};
  return project_on_cone(block.bound, r);
}

}  // namespace

void ConeJam::start(const ConeBlocks& blocks) {
  blocks_ = &blocks;
  double squares = 0;
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    if (block.mobility > 0 && block.b[0] < 0) squares += block.b[0] * block.b[0] / block.mobility;
  }
  usual_speed_ = math::hypot(math::norm(blocks.u_hat()), std::sqrt(squares));
}

double ConeJam::calc_leverage(std::span<const BlockVector> r) {
  const ConeBlocks& blocks = *blocks_;
  STICTION_ASSERT(static_cast<int>(r.size()) == blocks.size());
  push_.assign(blocks.num_dofs(), 0.0);
  double normal = 0, tangential = 0;  // parts of b . r
  for (int i = 0; i < blocks.size(); ++i) {
    const ConeBlock& block = blocks[i];
    const BlockVector allowed = project(block, r[i]);
    blocks.add_impulse(block, allowed, push_);
    normal += block.b[0] * allowed[0];
    tangential += block.b[1] * allowed[1] + block.b[2] * allowed[2];
  }
  // A surface that moves along its tangents jams nothing, because contacts may slip on it.
  const double needed = -normal - std::max(0.0, tangential);
  if (!(needed > 0)) return 0;
  const double usual = math::norm(push_) * usual_speed_;
  return usual > 0 ? needed / usual : std::numeric_limits<double>::infinity();
}

}  // namespace stiction::formulations
