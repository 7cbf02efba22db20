#include "stiction/sim/memory/anchor_springs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "stiction/math/scalar_functions.hpp"
#include "stiction/numerics/factorizations.hpp"
#include "stiction/sim/memory/anchor_report.hpp"

namespace stiction::sim {
namespace {

constexpr std::size_t kWordsOfPair = 26, kWordsOfPoint = 25;
// Bits of the last word of a point.
constexpr std::uint64_t kSlips = 1, kSurfaceMoves = 2, kYields = 4, kHasSlip = 8;

// Bits of a feature: 13 number the points of a face, 25 each are for the two elements.
constexpr int kShift_A = 38, kShift_B = 13;
constexpr std::uint64_t kElementMask = 0x1ffffff, kPointMask = 0x1fff;

/// Calls f(number) for all numbers of a point.
void for_each_number(auto& point, auto&& f) {
  for (auto* vector : {&point.position, &point.normal, &point.tangent, &point.stretch, &point.twist,
                       &point.force, &point.displacement}) {
    f(vector->x);
    f(vector->y);
    f(vector->z);
  }
  f(point.stiffness);
  f(point.area);
}

/// Calls f(number) for all numbers of a pair.
void for_each_number_of_pair(auto& pair, auto&& f) {
  for (auto& pose : pair.poses) {
    for (auto& x : pose.position) f(x);
    for (auto& x : pose.quaternion) f(x);
  }
  f(pair.dt);
  f(pair.energy);
  f(pair.spare);
  for (auto* vector : {&pair.arc, &pair.arc_of_last}) {
    f(vector->x);
    f(vector->y);
    f(vector->z);
  }
}

}  // namespace

std::uint64_t make_feature(int element_A, int element_B) {
  const auto bits = [](int element) {
    return static_cast<std::uint64_t>(element + 1) & kElementMask;
  };
  return bits(element_A) << kShift_A | bits(element_B) << kShift_B;
}

bool is_same_face(std::uint64_t feature1, std::uint64_t feature2) {
  return (feature1 & ~kPointMask) == (feature2 & ~kPointMask);
}

std::array<int, 2> find_elements(std::uint64_t feature) {
  const auto element = [feature](int shift) {
    return static_cast<int>(feature >> shift & kElementMask) - 1;
  };
  return {element(kShift_A), element(kShift_B)};
}

void AnchorStep::clear() {
  pairs.clear();
  points.clear();
}

void AnchorStep::copy(const AnchorPair& pair, const AnchorStep& from) {
  pairs.push_back(pair);
  pairs.back().first_point = static_cast<int>(points.size());
  const auto first = from.points.begin() + pair.first_point;
  points.insert(points.end(), first, first + pair.num_points);
}

void AnchorStep::reserve(int num_points) {
  pairs.reserve(num_points);
  points.reserve(num_points);
}

void AnchorMemory::write(base::WordWriter* words) const {
  const auto put = [words](double x) { words->put(x); };
  words->put(end);
  words->put(is_moved);
  creep.write(words);
  sim::write(joints, words);
  words->put(step.pairs.size());
  for (const AnchorPair& pair : step.pairs) {
    words->put_all(pair.geoms);
    words->put(pair.num_points);
    for_each_number_of_pair(pair, put);
    for (const AnchorPoint& point : step.points_of(pair)) {
      for_each_number(point, put);
      words->put(point.feature);
      words->put((point.slips ? kSlips : 0) | (point.surface_moves ? kSurfaceMoves : 0) |
                 (point.yields ? kYields : 0) | (point.slip > 0 ? kHasSlip : 0));
      if (point.slip > 0) words->put(point.slip);
    }
  }
}

void AnchorMemory::read(const mjModel* m, base::WordReader* words) {
  const auto take = [words](double& x) { x = words->take_finite(); };
  step.clear();
  end = words->take();
  is_moved = words->take_flag();
  creep.read(m, words);
  sim::read(m, words, &joints);
  step.pairs.resize(words->take_count(kWordsOfPair));
  for (AnchorPair& pair : step.pairs) {
    for (int& geom : pair.geoms) geom = words->take_below(m->ngeom);
    pair.first_point = static_cast<int>(step.points.size());
    pair.num_points = words->take_count(kWordsOfPoint);
    for_each_number_of_pair(pair, take);
    words->check(pair.dt > 0 && pair.energy >= 0 && pair.spare >= 0);
    for (int p = 0; p < pair.num_points; ++p) {
      AnchorPoint& point = step.points.emplace_back();
      for_each_number(point, take);
      words->check(point.stiffness >= 0 && point.area >= 0);
      point.feature = words->take();
      const int flags = words->take_below(2 * kHasSlip);
      point.slips = flags & kSlips;
      point.surface_moves = flags & kSurfaceMoves;
      point.yields = flags & kYields;
      if (flags & kHasSlip) point.slip = words->take_finite();
      words->check(point.slip >= 0);
    }
  }
  words->check(std::ranges::is_sorted(step.pairs, {}, &AnchorPair::geoms));
}

std::vector<AnchorReport> list_anchors(const AnchorStep& step) {
  std::vector<AnchorReport> out;
  out.reserve(step.points.size());
  for (const AnchorPair& pair : step.pairs)
    for (const AnchorPoint& point : step.points_of(pair)) {
      out.push_back({.geoms = pair.geoms,
                     .elements = find_elements(point.feature),
                     .position = point.position,
                     .normal = point.normal,
                     .stretch = point.stretch,
                     .twist = point.twist,
                     .force = point.force,
                     .stiffness = point.stiffness * point.area,
                     .slips = point.slips});
    }
  return out;
}

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

double find_largest_friction(const contact::Contact& c) {
  return std::max(1e-9, *std::max_element(c.friction.begin(), c.friction.end()));
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
  const double force = resistance_[0][0] + resistance_[1][1] + resistance_[2][2];
  if (!(force > 0)) return;
  constexpr double kLeast = 1e-9;
  const double lever = calc_lever();
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

double AnchorSharing::calc_lever() const {
  double force = 0, moment = 0;
  for (int i = 0; i < 3; ++i) {
    force += resistance_[i][i];
    moment += resistance_[i + 3][i + 3];
  }
  return force > 0 && moment > 0 ? std::sqrt(moment / force) : 1;
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
  Wrench lost = released_;
  for (const Taker& taker : takers_) {
    AnchorPoint& point = *taker.point;
    const Change change = calc_change(taker);
    point.stretch += change.stretch * share;
    point.twist += change.twist * share;
    const double k = find_stiffness(point) * share;
    const Wrench taken =
        make_wrench(point.position, ratios_.apply_to_stretch(change.stretch, point) * k,
                    ratios_.apply_to_twist(change.twist, point) * k);
    for (int i = 0; i < kSize; ++i) lost[i] -= taken[i];
  }
  lost_force_ = std::max(norm(Vec3{lost[0], lost[1], lost[2]}),
                         norm(Vec3{lost[3], lost[4], lost[5]}) / calc_lever());
  return std::max(0.0, at_hand - share * (with_present + share * added));
}

}  // namespace stiction::sim
