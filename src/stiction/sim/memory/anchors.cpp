#include "stiction/sim/memory/anchors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <tuple>
#include <utility>

#include "stiction/base/assert.hpp"
#include "stiction/sim/memory/static_friction.hpp"

namespace stiction::sim {
namespace {

using contact::Anchor;
using contact::Contact;
using contact::ContactProblem;
using math::Vec3;
using plant::SurfaceMotion;

Vec3 axis(const Contact& c, int i) { return {c.R_WC[3 * i], c.R_WC[3 * i + 1], c.R_WC[3 * i + 2]}; }

/// Returns the tangential stiffness of a contact that begins [N/m].
double find_stiffness(const Contact& c) {
  if (c.dim == 1) return 0;
  // A stiffness in N/m is that of a point. The faces of a patch have that of their elements.
  const bool is_given = c.face < 0 && std::isfinite(c.law.tangential_stiffness);
  return is_given ? c.law.tangential_stiffness : kTangentialShare * c.law.stiffness;
}

/// Returns the velocity of the moving surface of a contact point [m/s].
Vec3 find_surface_velocity(const mjModel* m, const mjData* d, const Contact& c) {
  if (!m->flg_surfacevel || c.face >= 0) return {};
  const mjtNum* v = d->contact[c.source].surfacevel;
  return axis(c, 0) * v[0] + axis(c, 1) * v[1];
}

/// True if the slip of a face is not the motion of the bodies alone, but also that of a surface.
bool has_moving_face(const mjModel* m, const Contact& c) {
  return m->flg_surfacevel && c.face >= 0 && (c.bias[0] != 0 || c.bias[1] != 0);
}

/// Turns the stretch or twist of a spring from one contact frame to another. Springs of unequal
/// coefficients are stiffer along one tangent. Tangents may turn relative to the bodies, so a
/// stretch that comes nearer to the stiffer one is shortened, or it would gain energy.
/// @param energy twice the energy of a spring with k_t = 1, of a vector and its contact
Vec3 turn_without_gain(const Vec3& vector, const AnchorPoint& from, const AnchorPoint& to,
                       const auto& turn, const auto& energy) {
  const Vec3 turned = turn(vector);
  const double before = energy(vector, from), after = energy(turned, to);
  return after > before ? turned * std::sqrt(before / after) : turned;
}

/// True if a geom's body turned by more than half a turn in the step before, so that poses show
/// another turn than it made.
/// @param model with the time step of the step
/// @param data  with cvel at the start of this step
bool turns_far(const mjModel* m, const mjData* d, int geom) {
  return mju_norm3(d->cvel + 6 * m->geom_bodyid[geom]) * m->opt.timestep > std::numbers::pi;
}

void sort(AnchorStep* step) {
  std::ranges::sort(step->pairs, {}, [](const AnchorPair& pair) {
    return std::tuple(pair.geoms, pair.first_point);
  });
}

}  // namespace

void Anchors::begin(const StepStart& start) {
  steps_.begin();
  kept_ = *start.kept;
  if (before_.end == start.positions)
    kept_.set_all();
  else if (before_.end != start.last_positions)
    kept_.set_none();
  if (!start.goes_on) before_.creep = {};  // another run, as after a reset
  now_.clear();
  steps_.now.joints.clear();
  steps_.now.creep = before_.creep;
  summary_ = {.num_forgotten = count_forgotten()};
}

void Anchors::end_part() {
  sort(&now_);
  steps_.end_part();
  kept_.set_all();
  now_.clear();
  steps_.now.joints.clear();
  steps_.now.creep = before_.creep;
  summary_ = {};
}

void Anchors::end(const StepEnd& end) {
  sort(&now_);
  steps_.now.end = end.positions;
  steps_.end();
}

/// Returns the pair of two geoms that touch in this step as it was in the last one, or null. Pairs
/// are sorted by their geoms.
const AnchorPair* Anchors::find_before(const std::array<int, 2>& geoms) {
  if (!kept_.has_geoms(m_, geoms)) return nullptr;
  const auto found = std::ranges::lower_bound(before_.step.pairs, geoms, {}, &AnchorPair::geoms);
  if (found == before_.step.pairs.end() || found->geoms != geoms) return nullptr;
  is_met_[found - before_.step.pairs.begin()] = true;
  return &*found;
}

/// Keeps a pair of the last step, and adds it to the summary.
void Anchors::keep_pair(const AnchorPair& pair) {
  now_.copy(pair, before_.step);
  summary_.energy += pair.energy;
  for (const AnchorPoint& point : before_.step.points_of(pair))
    summary_.largest_stretch = std::max(summary_.largest_stretch, norm(point.stretch));
}

/// Makes room for the next step, which has as many contacts.
void Anchors::reserve(int num_contacts) {
  for (AnchorStep* step : {&before_.step, &now_, &open_}) step->reserve(num_contacts);
  for (CreepWatch* creep : {&before_.creep, &steps_.now.creep}) creep->reserve(num_contacts);
  matching_.reserve(num_contacts);
  sharing_.reserve(num_contacts);
}

void Anchors::carry_to(const mjModel* m, const mjData* d, const plant::MaterialTable& materials,
                       std::span<const plant::PatchPair> patches, const plant::MocapMotion& mocap,
                       double reference_step, ContactProblem* problem) {
  reserve(problem->num_contacts());
  now_.clear();
  contacts_.clear();
  surface_speed_.clear();
  is_met_.assign(before_.step.pairs.size(), false);
  touches_.assign(m->nbody, false);
  summary_.num_lost = 0;
  summary_.energy_gain = 0;
  steps_.now.creep = before_.creep;
  problem->anchors.assign(problem->num_contacts(), Anchor());
  // Patches mostly come in the order of their contacts, so each search begins after the last one.
  std::size_t next_patch = 0;
  const auto find_patch = [&](int first_contact) {
    for (std::size_t i = 0; i < patches.size(); ++i) {
      const plant::PatchPair& patch = patches[(next_patch + i) % patches.size()];
      if (patch.first_contact != first_contact || patch.points.empty()) continue;
      next_patch = &patch - patches.data() + 1;
      return &patch;
    }
    return static_cast<const plant::PatchPair*>(nullptr);
  };
  for_each_geom_contacts(d, *problem, [&](const GeomContacts& contacts) {
    const auto [A, B] = contacts.geoms;
    const plant::PatchPair* patch = contacts.is_patch ? find_patch(contacts.first) : nullptr;
    STICTION_ASSERT(!contacts.is_patch || patch);
    add_pair(d, contacts, patch, *problem);
    AnchorPair& now = now_.pairs.back();
    const AnchorPair* before = find_before(contacts.geoms);
    const double static_friction = plant::combine_static_friction(m, materials, A, B);
    now.static_ratio = find_static_ratio(static_friction, problem->contacts[contacts.first]);
    if (now.static_ratio > 1)
      begin_yielding(m, *problem, contacts_of(now),
                     before ? before_.step.points_of(*before) : std::span<const AnchorPoint>(),
                     points_of(now));
    if (before)
      find_again(*before, {mocap.jumps(m, m->geom_bodyid[A]), mocap.jumps(m, m->geom_bodyid[B])},
                 turns_far(m, d, A) || turns_far(m, d, B), &now, *problem);
    if (now.static_ratio > 1)
      raise_friction(now.static_ratio, contacts_of(now), points_of(now), problem);
    write_springs(now, problem);
    for (const int body : find_bodies(now)) touches_[body] = true;
  });
  lose_unmet();
  joints_.carry_to(m, d, mocap, reference_step, before_.joints, kept_, before_.is_moved, problem,
                   &steps_.now.joints);
}

/// Adds the contacts of two geoms, without stretches.
void Anchors::add_pair(const mjData* d, const GeomContacts& contacts, const plant::PatchPair* patch,
                       const ContactProblem& problem) {
  const mjModel* m = m_;
  const auto [A, B] = contacts.geoms;
  const int first_contact = contacts.first, count = contacts.count;
  now_.pairs.push_back({.geoms = contacts.geoms,
                        .poses = {plant::find_body_pose(m, d, A), plant::find_body_pose(m, d, B)},
                        .dt = problem.time_step,
                        .first_point = static_cast<int>(now_.points.size()),
                        .num_points = count});
  const auto& origin = find_body_pair(problem, first_contact).origin;
  if (!patch) matching_.reserve_points(count);
  std::uint64_t last = 0;
  for (int i = first_contact; i < first_contact + count; ++i) {
    const Contact& c = problem.contacts[i];
    AnchorPoint point{
        .position = {origin[0] + c.offset[0], origin[1] + c.offset[1], origin[2] + c.offset[2]},
        .normal = axis(c, 2),
        .tangent = axis(c, 0),
        .stiffness = find_stiffness(c)};
    if (patch) {
      const geometry::SurfaceFace& face = patch->surface.faces[c.face];
      point.area = patch->points[i - first_contact].area;
      point.stiffness = point.area > 0 ? point.stiffness / point.area : 0;
      const std::uint64_t first = make_feature(face.element_A, face.element_B);
      point.feature = is_same_face(first, last) ? next_feature(last) : first;
      last = point.feature;
    }
    now_.points.push_back(point);
    contacts_.push_back(i);
    surface_speed_.push_back(find_surface_velocity(m, d, c));
    now_.points.back().surface_moves = has_moving_face(m, c);
  }
}

/// Finds the contacts of a pair of the last step again, and carries their stretches to this one.
/// @param jumps     for either body, whether it has been moved without a motion; it keeps its
///                  anchors
/// @param turns_far a body has turned too far in the step for poses to tell its slip
void Anchors::find_again(const AnchorPair& before, const std::array<bool, 2>& jumps, bool turns_far,
                         AnchorPair* now, const ContactProblem& problem) {
  std::array<plant::BodyPose, 2> poses = before.poses;
  for (int side = 0; side < 2; ++side)
    if (jumps[side]) poses[side] = now->poses[side];
  keeps_slip_ = jumps[0] || jumps[1] || turns_far;
  arc_ = {.expected = before.arc, .earlier = before.arc_of_last};
  const SurfaceMotion motion(poses, now->poses);
  const SpringRatios ratios(problem.contacts[contacts_[now->first_point]]);
  const std::span<const int> match =
      matching_.match(motion, before_.step.points_of(before), points_of(*now));
  double work = 0;
  lost_force_ = 0;
  for (int i = 0; i < before.num_points; ++i)
    if (match[i] >= 0)
      work += carry(motion, before_.step.points[before.first_point + i], ratios,
                    &points_of(*now)[match[i]]);
  const int num_lost = summary_.num_lost;
  sharing_.start(ratios);
  release_lost(motion, match, before, ratios, &work);
  now->spare = before.spare;
  if (summary_.num_lost > num_lost) {
    share(*now, problem);
    now->spare = sharing_.solve(before.spare);
    lost_force_ += sharing_.lost_force();
  }
  lose(before, before_.step.points_of(before), lost_force_);
  summary_.energy_gain += std::max(0.0, calc_gain(before, *now, ratios, work));
  expect_arc(before.dt, now);
}

/// Expects the way of B on A beyond dt v in this step, which is of second order in dt: that of the
/// last step, and its change since the step before.
void Anchors::expect_arc(double dt_before, AnchorPair* now) const {
  if (arc_.num_points == 0) return;
  const Vec3 earlier = arc_.earlier_sum * (1.0 / arc_.num_points);
  now->arc_of_last =
      before_.is_moved ? earlier : arc_.last_sum * (1 / (arc_.num_points * dt_before * dt_before));
  const Vec3 change = earlier == Vec3{} ? Vec3{} : now->arc_of_last - earlier;
  now->arc = (now->arc_of_last + change * (now->dt / dt_before)) * (now->dt * now->dt);
}

/// Returns by how much the energy of a pair has grown beyond the work of its bodies' motion [J].
double Anchors::calc_gain(const AnchorPair& before, const AnchorPair& now,
                          const SpringRatios& ratios, double work) {
  double energy = now.spare;
  for (const AnchorPoint& point : points_of(now)) energy += calc_energy(point, ratios);
  return energy - (before.energy + before.spare + work);
}

/// Carries the stretch of a contact from the last step to this one.
/// @return the work of the bodies' motion beyond the slip that the step computed [J]
double Anchors::carry(const SurfaceMotion& motion, const AnchorPoint& before,
                      const SpringRatios& ratios, AnchorPoint* now) {
  const double spin = motion.calc_spin(now->normal);
  const auto turn = [&](const Vec3& a) {
    return plant::carry_to_plane(a, before.normal, now->normal, spin);
  };
  const auto stretch_energy = [&](const Vec3& a, const AnchorPoint& point) {
    return dot(a, ratios.apply_to_stretch(a, point));
  };
  const auto twist_energy = [&](const Vec3& a, const AnchorPoint& point) {
    return dot(a, ratios.apply_to_twist(a, point));
  };
  const Vec3 turned = turn_without_gain(before.stretch, before, *now, turn, stretch_energy);
  Vec3 u = turned;
  // Replace the slip that the step expected by that of the bodies' motion, if poses tell it. A jump
  // stretches no spring. A contact that slid takes the difference, too: where others stick, their
  // springs move the bodies back by it in this step, which is no slip.
  if (!before.surface_moves && !keeps_slip_ && motion.tells_slip(before.normal, now->normal)) {
    const Vec3 arc = motion.calc_slip(before.position, before.normal, now->position, now->normal) -
                     turn(before.displacement);
    arc_.last_sum += arc;
    arc_.earlier_sum += turn(arc_.earlier);
    ++arc_.num_points;
    u += arc - turn(arc_.expected);
  }
  u -= now->normal * dot(now->normal, u);
  const double work = 0.5 * before.stiffness * before.area *
                      (stretch_energy(u, *now) - stretch_energy(turned, *now));
  // A face that grows must not gain energy. One that changes by little keeps its spring, or small
  // swings of its area would take its stretch away bit by bit.
  constexpr double kKept = 0.05;
  if (std::abs(now->area - before.area) <= kKept * before.area) now->area = before.area;
  const double share = now->area > before.area ? before.area / now->area : 1;
  lost_force_ += before.stiffness * std::max(0.0, before.area - now->area) * norm(u);
  now->stretch = u * share;
  now->twist = turn_without_gain(before.twist, before, *now, turn, twist_energy) * share;
  now->slip = before.slip;
  now->yields = before.yields;
  // The stiffness is that of the first touch. A stiffness that grew with a load at a given stretch
  // would add energy, and one that shrank would lose force.
  now->stiffness = before.stiffness;
  return work;
}

/// Gives the anchors that were not found again to be shared, after the bodies' motion has stretched
/// them.
void Anchors::release_lost(const SurfaceMotion& motion, std::span<const int> match,
                           const AnchorPair& before, const SpringRatios& ratios, double* work) {
  for (int i = 0; i < before.num_points; ++i) {
    const AnchorPoint& point = before_.step.points[before.first_point + i];
    if (match[i] >= 0 || (point.stretch == Vec3{} && point.twist == Vec3{})) continue;
    AnchorPoint moved = point;
    moved.position =
        0.5 * (motion.move_point(0, point.position) + motion.move_point(1, point.position));
    moved.normal = motion.move_direction(point.normal);
    moved.tangent = motion.move_direction(point.tangent);
    *work += carry(motion, point, ratios, &moved);
    sharing_.release(&moved);
    ++summary_.num_lost;
  }
}

/// Lets the contacts of a pair share what was released. Points share the force of all anchors of
/// the pair, also of those that were found again: a point that held its own and a share of the
/// others would yield before them. Faces keep theirs, because their stretches differ across a
/// patch.
void Anchors::share(const AnchorPair& now, const ContactProblem& problem) {
  const bool has_faces = points_of(now).front().feature != 0;
  double strength = 0;
  for (int p = now.first_point; p < now.first_point + now.num_points; ++p)
    strength += find_strength(p, problem);
  const bool shares_all = !has_faces && strength > 0;
  if (shares_all)
    for (AnchorPoint& point : points_of(now)) sharing_.release(&point);
  for (int p = now.first_point; p < now.first_point + now.num_points; ++p) {
    AnchorPoint& point = now_.points[p];
    sharing_.take(&point, shares_all ? find_strength(p, problem) : point.stiffness * point.area);
  }
}

/// Returns about how much friction a contact will bear [N].
double Anchors::find_strength(int point, const ContactProblem& problem) const {
  const int contact = contacts_[point];
  const Contact& c = problem.contacts[contact];
  const std::optional<double> lagged = problem.find_lagged_impulse(contact);
  const double force =
      lagged ? *lagged / problem.time_step : c.law.stiffness * std::max(0.0, -c.phi0);
  return find_largest_friction(c) * force;
}

/// Writes the springs of a pair's contacts. Together they are damped by the damping ratio.
void Anchors::write_springs(const AnchorPair& pair, ContactProblem* problem) const {
  double total = 0;
  for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p)
    if (problem->contacts[contacts_[p]].phi0 <= 0)
      total += now_.points[p].stiffness * now_.points[p].area;
  for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
    const AnchorPoint& point = now_.points[p];
    const Contact& c = problem->contacts[contacts_[p]];
    const double k = point.stiffness * point.area, w = problem->delassus[contacts_[p]];
    const Vec3 t1 = axis(c, 0), t2 = axis(c, 1);
    Anchor& anchor = problem->anchors[contacts_[p]];
    anchor.stretch = {dot(t1, point.stretch), dot(t2, point.stretch),
                      dot(point.normal, point.twist), dot(t1, point.twist), dot(t2, point.twist)};
    const Vec3 arc_velocity = pair.arc * (1 / problem->time_step);
    anchor.arc_velocity = {dot(t1, arc_velocity), dot(t2, arc_velocity)};
    anchor.stiffness = k;
    if (k > 0 && w > 0)
      anchor.damping = 2 * c.law.tangential_damping * k / std::sqrt(w * std::max(total, k));
  }
}

std::optional<CreepWatch::Creep> Anchors::record(const ContactProblem& problem,
                                                 const contact::ContactSolution& solution) {
  summary_.largest_stretch = summary_.energy = 0;
  const double dt = problem.time_step;
  std::swap(open_, now_);
  now_.clear();
  for (AnchorPair& pair : open_.pairs) {
    const auto first = now_.points.size();
    Vec3 lifted;  // force of the contacts that do not press
    pair.energy = 0;
    for (int p = pair.first_point; p < pair.first_point + pair.num_points; ++p) {
      const int i = contacts_[p];
      if (!(solution.impulses[i][2] > 0)) {  // a contact that does not press forgets
        lifted += open_.points[p].stretch * problem.anchors[i].stiffness;
        continue;
      }
      now_.points.push_back(open_.points[p]);
      pair.energy += record_point(problem.contacts[i], problem.anchors[i], solution, i,
                                  surface_speed_[p], dt, &now_.points.back());
    }
    lose(pair, open_.points_of(pair), norm(lifted));
    if (now_.points.size() == first) continue;
    if (pair.static_ratio > 1)
      record_yielding(problem, solution, contacts_of(pair), now_.points.data() + first);
    summary_.energy += pair.energy;
    now_.pairs.push_back(pair);
    now_.pairs.back().first_point = static_cast<int>(first);
    now_.pairs.back().num_points = static_cast<int>(now_.points.size() - first);
  }
  JointAnchors::record(problem, solution, steps_.now.joints);
  for (const JointAnchor& joint : steps_.now.joints) summary_.energy += joint.energy();
  steps_.now.is_moved = false;
  return watch_creep(problem, solution);
}

/// Computes the stretch at the end of the step by return mapping: the spring stretches at the rate
/// (-gamma_t - p) / a.
/// @return the energy of the contact's springs [J]
double Anchors::record_point(const Contact& c, const Anchor& anchor,
                             const contact::ContactSolution& solution, int index,
                             const Vec3& surface_velocity, double dt, AnchorPoint* point) {
  constexpr int kSlip[5] = {0, 1, 3, 4, 5};
  const auto& gamma = solution.impulses[index];
  const auto& v = solution.contact_velocities[index];
  const double resistance = dt * anchor.stiffness + anchor.damping;  // [N s/m]
  const double largest = find_largest_friction(c);
  double u[5] = {}, force[5] = {}, energy = 0;
  for (int i = 0; i < 5 && resistance > 0; ++i) {
    const double ratio = c.friction[i] / largest, square = ratio * ratio;
    if (!(square > 0)) continue;
    u[i] = anchor.stretch[i] -
           (gamma[kSlip[i]] / square + dt * anchor.stiffness * anchor.stretch[i]) / resistance;
    force[i] = -anchor.stiffness * square * u[i];
    energy -= 0.5 * force[i] * u[i];
  }
  const Vec3 t1 = axis(c, 0), t2 = axis(c, 1);
  point->stretch = t1 * u[0] + t2 * u[1];
  point->twist = point->normal * u[2] + t1 * u[3] + t2 * u[4];
  point->force = t1 * force[0] + t2 * force[1];
  point->displacement = (t1 * v[0] + t2 * v[1] - surface_velocity) * dt;
  point->slips = solution.slipping[index] != 0;
  summary_.largest_stretch = std::max(summary_.largest_stretch, norm(point->stretch));
  return energy;
}

}  // namespace stiction::sim
