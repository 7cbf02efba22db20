#include "stiction/sim/memory/anchor_sharing.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/factorizations.hpp"
#include "stiction/sim/memory/anchor_memory.hpp"

namespace stiction::sim {

using math::Vec3;

namespace {

constexpr Vec3 kUnit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/// Returns the part of a vector in the plane with a normal.
Vec3 project(const Vec3& a, const Vec3& normal) { return a - normal * dot(normal, a); }

double find_stiffness(const AnchorPoint& point) { return point.stiffness * point.area; }

/// Multiplies the components of a vector in the tangent plane of a contact.
Vec3 multiply(const std::array<double, 2>& ratios, const Vec3& a, const AnchorPoint& point) {
  const bool is_first_larger = ratios[0] > ratios[1];
  const double smaller = ratios[is_first_larger], larger = ratios[!is_first_larger];
  if (larger == smaller) return a * smaller;
  const Vec3 axis = is_first_larger ? point.tangent : cross(point.normal, point.tangent);
  return a * smaller + axis * ((larger - smaller) * dot(axis, a));
}

}  // namespace

SpringRatios::SpringRatios(const contact::Contact& c) {
  const double largest = *std::max_element(c.friction.begin(), c.friction.end());
  if (!(largest > 0)) return;
  const auto calc_ratio = [&](int i) { return math::square(c.friction[i] / largest); };
  sliding = {calc_ratio(0), calc_ratio(1)};
  torsion = calc_ratio(2);
  rolling = {calc_ratio(3), calc_ratio(4)};
}

Vec3 SpringRatios::apply_to_stretch(const Vec3& stretch, const AnchorPoint& point) const {
  return multiply(sliding, stretch, point);
}

Vec3 SpringRatios::apply_to_twist(const Vec3& twist, const AnchorPoint& point) const {
  const Vec3& normal = point.normal;
  return multiply(rolling, project(twist, normal), point) + normal * (dot(normal, twist) * torsion);
}

double calc_energy(const AnchorPoint& point, const SpringRatios& ratios) {
  return 0.5 * find_stiffness(point) *
         (dot(point.stretch, ratios.apply_to_stretch(point.stretch, point)) +
          dot(point.twist, ratios.apply_to_twist(point.twist, point)));
}

AnchorSharing::Wrench AnchorSharing::make_wrench(const Vec3& position, const Vec3& force,
                                                 const Vec3& torque) const {
  const Vec3 moment = cross(position - origin_, force) + torque;
  return {force.x, force.y, force.z, moment.x, moment.y, moment.z};
}

void AnchorSharing::start(const SpringRatios& ratios) {
  ratios_ = ratios;
  has_origin_ = false;
  released_ = {};
  energy_ = 0;
  resistance_ = {};
  solution_ = {};
  takers_.clear();
}

void AnchorSharing::release(AnchorPoint* point) {
  if (!has_origin_) origin_ = point->position;
  has_origin_ = true;
  const double k = find_stiffness(*point);
  const Wrench wrench =
      make_wrench(point->position, ratios_.apply_to_stretch(point->stretch, *point) * k,
                  ratios_.apply_to_twist(point->twist, *point) * k);
  for (int i = 0; i < kSize; ++i) released_[i] += wrench[i];
  energy_ += calc_energy(*point, ratios_);
  point->stretch = point->twist = {};
}

void AnchorSharing::take(AnchorPoint* point, double weight) {
  if (!(find_stiffness(*point) > 0 && weight > 0)) return;
  const Vec3 r = point->position - origin_;
  for (int j = 0; j < kSize; ++j) {
    const Vec3 motion = j < 3 ? kUnit[j] : cross(kUnit[j - 3], r);
    const Vec3 torque = j < 3 ? Vec3{} : ratios_.apply_to_twist(kUnit[j - 3], *point);
    const Vec3 force = ratios_.apply_to_stretch(project(motion, point->normal), *point);
    const Wrench wrench = make_wrench(point->position, force * weight, torque * weight);
    for (int i = 0; i < kSize; ++i) resistance_[i][j] += wrench[i];
  }
  takers_.push_back({point, weight});
}

void AnchorSharing::solve_for_wrench() {
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
    right[i] = released_[i] / unit_i;
    for (int j = 0; j < kSize; ++j)
      matrix[i * kSize + j] = resistance_[i][j] / (unit_i * (j < 3 ? 1 : lever));
    matrix[i * kSize + i] += kLeast * force;
  }
  if (numerics::solve_in_place(kSize, matrix, 1, right) >= 0) return;
  for (int i = 0; i < kSize; ++i) solution_[i] = right[i] / (i < 3 ? 1 : lever);
}

AnchorSharing::Change AnchorSharing::calc_change(const Taker& taker) const {
  const AnchorPoint& point = *taker.point;
  const Vec3 along{solution_[0], solution_[1], solution_[2]};
  const Vec3 about{solution_[3], solution_[4], solution_[5]};
  const double per_force = taker.weight / find_stiffness(point);
  return {project(along + cross(about, point.position - origin_), point.normal) * per_force,
          about * per_force};
}

double AnchorSharing::solve(double spare) {
  solve_for_wrench();
  // The energy of the springs grows by share^2 added + share with_present.
  double added = 0, with_present = 0;
  for (const Taker& taker : takers_) {
    const Change change = calc_change(taker);
    const Vec3 torque = ratios_.apply_to_twist(change.twist, *taker.point);
    const Vec3 force = ratios_.apply_to_stretch(change.stretch, *taker.point);
    const double k = find_stiffness(*taker.point);
    added += 0.5 * k * (dot(change.stretch, force) + dot(change.twist, torque));
    with_present += k * (dot(force, taker.point->stretch) + dot(torque, taker.point->twist));
  }
  const double at_hand = energy_ + spare;
  double share = 1;
  if (added + with_present > at_hand) {
    const double root = std::sqrt(with_present * with_present + 4 * added * at_hand);
    // Both forms are roots of the same equation; take the one without cancellation.
    share = with_present > 0 ? 2 * at_hand / (with_present + root)
                             : (root - with_present) / (2 * added);
  }
  for (const Taker& taker : takers_) {
    const Change change = calc_change(taker);
    taker.point->stretch += change.stretch * share;
    taker.point->twist += change.twist * share;
  }
  return std::max(0.0, at_hand - share * (with_present + share * added));
}

}  // namespace stiction::sim
