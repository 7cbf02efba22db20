#include "stiction/formulations/rigid/dry_friction_iteration.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/formulations/rigid/rigid_tolerances.hpp"
#include "stiction/laws/dry_friction.hpp"
#include "stiction/math/vector_kernels.hpp"

namespace stiction::formulations {

void DryFrictionIteration::start(const RigidTerms& terms) {
  joints_.clear();
  for (const int row : terms.regularized_joints) {
    LinearizedFriction& joint = joints_.emplace_back();
    joint.row = row;
    laws::calc_dry_friction(terms.row(row), 0, &joint.weight);
  }
}

void DryFrictionIteration::calc_mobilities(const RigidTerms& terms, const Whitening& whitening) {
  const int n = terms.num_dofs();
  whitened_row_.resize(n);
  for (LinearizedFriction& joint : joints_) {
    whitening.whiten(terms.row_jacobian(joint.row), whitened_row_.data());
    const double weighted = math::dot(n, whitened_row_.data(), whitened_row_.data());
    // The formula of Sherman and Morrison takes the row's own weight out of A.
    joint.mobility = weighted / std::max(kLeastShareOfA, 1 - joint.weight * weighted);
  }
}

bool DryFrictionIteration::update(const RigidTerms& terms, const RigidMotion& motion,
                                  double tolerance) {
  bool is_met = true;
  for (LinearizedFriction& joint : joints_) {
    const contact::Row& row = terms.row(joint.row);
    const double v = terms.calc_row_velocity(joint.row, motion.v);
    const double gamma = motion.row_impulses[joint.row];
    double slope;
    const double error = std::abs(laws::calc_dry_friction(row, v, &slope) - gamma);
    if (error > tolerance * row.bound) is_met = false;
    // Take the point of the curve with the same v - mobility gamma.
    joint.velocity = laws::find_on_dry_friction(row, joint.mobility, v - joint.mobility * gamma);
    joint.impulse = laws::calc_dry_friction(row, joint.velocity, &joint.weight);
  }
  return is_met;
}

void DryFrictionIteration::freeze(const RigidMotion& motion) {
  for (LinearizedFriction& joint : joints_) {
    joint.impulse = motion.row_impulses[joint.row];
    joint.weight = 0;
  }
}

}  // namespace stiction::formulations
