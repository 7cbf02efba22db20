#include "stiction/sim/anchor_sharing.hpp"

#include <cmath>

#include "stiction/numerics/dense_solve.hpp"

namespace stiction::sim {

using math::Vec3;

namespace {

/// Returns the part of a vector in the plane with a normal.
Vec3 project(const Vec3& a, const Vec3& normal) { return a - normal * dot(normal, a); }

}  // namespace

AnchorSharing::Wrench AnchorSharing::make_wrench(const Vec3& position, const Vec3& force) const {
  const Vec3 moment = cross(position - origin_, force);
  return {force.x, force.y, force.z, moment.x, moment.y, moment.z};
}

void AnchorSharing::add_lost(const Vec3& position, const Vec3& stretch, double stiffness) {
  if (empty()) origin_ = position;
  const Wrench wrench = make_wrench(position, stretch * stiffness);
  for (int i = 0; i < kSize; ++i) lost_[i] += wrench[i];
  energy_ += 0.5 * stiffness * dot(stretch, stretch);
}

void AnchorSharing::add_contact(const Vec3& position, const Vec3& normal, const Vec3& stretch,
                                double stiffness) {
  const Vec3 r = position - origin_;
  const Vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int j = 0; j < kSize; ++j) {
    const Vec3 motion = j < 3 ? unit[j] : cross(unit[j - 3], r);
    const Wrench wrench = make_wrench(position, project(motion, normal) * stiffness);
    for (int i = 0; i < kSize; ++i) resistance_[i][j] += wrench[i];
  }
  const Wrench wrench = make_wrench(position, stretch * stiffness);
  for (int i = 0; i < kSize; ++i) present_[i] += wrench[i];
}

void AnchorSharing::solve() {
  solution_ = {};
  // Contacts in a row resist no moment about it, and no contacts resist nothing. Add a little
  // resistance in every direction, in units in which forces and moments are alike.
  double force = 0, moment = 0;
  for (int i = 0; i < 3; ++i) {
    force += resistance_[i][i];
    moment += resistance_[i + 3][i + 3];
  }
  if (!(force > 0)) return;
  constexpr double kLeast = 1e-9;
  const double lever = moment > 0 ? std::sqrt(moment / force) : 1;  // [m]
  double matrix[kSize * kSize], right[kSize];
  for (int i = 0; i < kSize; ++i) {
    const double unit_i = i < 3 ? 1 : lever;
    right[i] = lost_[i] / unit_i;
    for (int j = 0; j < kSize; ++j)
      matrix[i * kSize + j] = resistance_[i][j] / (unit_i * (j < 3 ? 1 : lever));
    matrix[i * kSize + i] += kLeast * force;
  }
  if (numerics::solve_in_place(kSize, matrix, 1, right) >= 0) return;
  for (int i = 0; i < kSize; ++i) solution_[i] = right[i] / (i < 3 ? 1 : lever);

  // The energy of the springs grows by share^2 added + share with_present.
  double added = 0, with_present = 0;
  for (int i = 0; i < kSize; ++i) {
    with_present += solution_[i] * present_[i];
    for (int j = 0; j < kSize; ++j) added += 0.5 * solution_[i] * resistance_[i][j] * solution_[j];
  }
  if (added + with_present <= energy_) return;
  const double root = std::sqrt(with_present * with_present + 4 * added * energy_);
  // Both forms are roots of the same equation; take the one without cancellation.
  const double share =
      with_present > 0 ? 2 * energy_ / (with_present + root) : (root - with_present) / (2 * added);
  for (double& x : solution_) x *= share;
}

Vec3 AnchorSharing::calc_added_stretch(const Vec3& position, const Vec3& normal) const {
  const Vec3 along{solution_[0], solution_[1], solution_[2]};
  const Vec3 about{solution_[3], solution_[4], solution_[5]};
  return project(along + cross(about, position - origin_), normal);
}

}  // namespace stiction::sim
