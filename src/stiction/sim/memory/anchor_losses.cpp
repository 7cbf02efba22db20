// The springs that Anchors loses, and the bodies that creep by it.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "stiction/sim/memory/anchors.hpp"

namespace stiction::sim {

/// Returns the number of springs of trees that are elsewhere than at the end of the last step.
int Anchors::count_forgotten() const {
  if (kept_.has_all()) return 0;
  int count = 0;
  for (const AnchorPair& pair : before_.step.pairs)
    if (!kept_.has_geoms(m_, pair.geoms)) count += pair.num_points;
  for (const JointAnchor& joint : before_.joints)
    if (!is_kept(m_, kept_, joint.key)) ++count;
  return count;
}

bool Anchors::lacks_memory() const {
  if (kept_.has_all()) return false;
  const auto is_new = [this](const AnchorPair& pair) { return !kept_.has_geoms(m_, pair.geoms); };
  const auto is_new_joint = [this](const JointAnchor& j) { return !is_kept(m_, kept_, j.key); };
  return std::ranges::any_of(now_.pairs, is_new) ||
         std::ranges::any_of(steps_.now.joints, is_new_joint);
}

/// Returns the bodies of a pair, sorted. Bodies that are welded together, or to the world, are one.
std::array<int, 2> Anchors::find_bodies(const AnchorPair& pair) const {
  const auto find_body = [&](int geom) { return m_->body_weldid[m_->geom_bodyid[geom]]; };
  const auto [least, largest] = std::minmax({find_body(pair.geoms[0]), find_body(pair.geoms[1])});
  return {least, largest};
}

/// Tells that a pair has lost springs.
/// @param force that they no longer hold [N]
void Anchors::lose(const AnchorPair& pair, std::span<const AnchorPoint> points, double force) {
  if (!(force > 0)) return;
  double stretch = 0;
  for (const AnchorPoint& point : points) stretch = std::max(stretch, norm(point.stretch));
  steps_.now.creep.lose(find_bodies(pair), pair.geoms, force, stretch);
}

/// Loses the springs of geoms that do not touch in this step, or that belong to another state.
/// Trees that sleep have no contacts, and keep their springs.
void Anchors::lose_unmet() {
  for (std::size_t i = 0; i < before_.step.pairs.size(); ++i) {
    const AnchorPair& pair = before_.step.pairs[i];
    if (is_met_[i] || !std::ranges::all_of(find_bodies(pair), [&](int b) { return touches_[b]; }))
      continue;
    math::Vec3 force;
    for (const AnchorPoint& point : before_.step.points_of(pair)) force += point.force;
    lose(pair, before_.step.points_of(pair), norm(force));
  }
}

/// Ends the step of CreepWatch. Call it while open_ has the contacts of the step.
std::optional<CreepWatch::Creep> Anchors::watch_creep(const contact::ContactProblem& problem,
                                                      const contact::ContactSolution& solution) {
  CreepWatch& creep = steps_.now.creep;
  for (const AnchorPair& pair : open_.pairs)
    creep.walk.add(pair.geoms, pair.poses[0], problem, solution, contacts_of(pair));
  if (!creep.is_empty())
    for (const AnchorPair& pair : open_.pairs)
      creep.add_contacts(find_bodies(pair), problem, solution, contacts_of(pair));
  return creep.end_step(problem.time_step);
}

}  // namespace stiction::sim
