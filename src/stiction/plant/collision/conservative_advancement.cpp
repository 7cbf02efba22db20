#include "stiction/plant/collision/conservative_advancement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "stiction/base/error.hpp"
#include "stiction/base/work_limits.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/plant/repairs/collision_repair.hpp"

namespace stiction::plant {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Returns the radius rho of a geom's core, around which a ball is swept [m].
double calc_core_radius(const mjModel* m, int geom) {
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: return 0;
    case mjGEOM_CAPSULE: return m->geom_size[3 * geom + 1];
    default: return m->geom_rbound[geom];
  }
}

/// True for a geom that keeps its shape in the widened model.
bool keeps_shape(const mjModel* m, int geom) {
  return m->geom_type[geom] == mjGEOM_PLANE || m->geom_type[geom] == mjGEOM_HFIELD;
}

/// Solves c t + 1/2 K t^2 = distance for the smallest t >= 0.
/// @param distance >= 0 [m]
double solve_travel_time(double distance, double c, double K) {
  const double denominator = c + std::sqrt(c * c + 2 * K * distance);
  return denominator > 0 ? 2 * distance / denominator : kNever;
}

}  // namespace

ConservativeAdvancement::ConservativeAdvancement(const mjModel* m) : exact_(m), balls_(m) {
  for (int geom = 0; geom < m->ngeom; ++geom)
    if (m->geom_type[geom] == mjGEOM_SDF)
      throw Error(ErrorCode::kUnsupported, describe(m, mjOBJ_GEOM, geom),
                  "is of type sdf, whose exact distance to other geoms is not known; use a mesh, "
                  "or the integrator 'euler'");
  MuJoCoGuard guard;
  mjData* raw = nullptr;
  const bool ok = guard.run([&] { raw = mj_makeData(m); });
  data_.reset(raw);
  if (!ok) throw Error(ErrorCode::kMuJoCo, "", std::string("MuJoCo: ") + guard.error());
}
ConservativeAdvancement::~ConservativeAdvancement() = default;
ConservativeAdvancement::ConservativeAdvancement(ConservativeAdvancement&&) noexcept = default;
ConservativeAdvancement& ConservativeAdvancement::operator=(ConservativeAdvancement&&) noexcept =
    default;

bool ConservativeAdvancement::calc(const mjModel* m, const mjData* d, const double* qvel,
                                   double duration, Touch* touch, double ignored_distance,
                                   const MocapMotion* mocap) {
  *touch = {};
  mjData* e = data_.get();
  qpos_.assign(d->qpos, d->qpos + m->nq);
  qvel_.assign(qvel, qvel + m->nv);
  start_time_ = d->time;
  mocap_ = mocap;
  std::copy_n(d->mocap_pos, 3 * m->nmocap, e->mocap_pos);
  std::copy_n(d->mocap_quat, 4 * m->nmocap, e->mocap_quat);
  const int num_full = e->warning[mjWARN_CONTACTFULL].number;
  MuJoCoGuard guard;
  const bool ok = guard.run([&] {
    if (!start(m, duration, ignored_distance, touch)) return;
    const auto max_distances =
        kMaxDistances + kMaxDistancesPerPair * static_cast<std::int64_t>(pairs_.size());
    // Take the pair that may touch first, move to that time, and compute its distance there. End
    // when it touches, or when no pair may touch within the duration.
    for (;;) {
      base::check_limits();
      const auto first =
          std::min_element(pairs_.begin(), pairs_.end(),
                           [](const Pair& a, const Pair& b) { return a.safe_time < b.safe_time; });
      touch->time = std::min(duration, first == pairs_.end() ? kNever : first->safe_time);
      touch->is_given_up = touch->time < duration && touch->num_distances >= max_distances;
      if (touch->time >= duration || touch->is_given_up) return;
      advance(m, touch->time);
      ++touch->num_distances;
      double distance = 0;
      const double step = calc_safe_time(m, *first, duration - touch->time, &distance);
      if (distance <= kTouching || touch->time + step == touch->time) {
        touch->geoms = first->geoms;
        return;
      }
      first->safe_time += step;
    }
  });
  if (!ok) {
    e->pstack = e->pbase = 0;
    error_ = std::string("MuJoCo: ") + guard.error();
    return false;
  }
  if (e->warning[mjWARN_CONTACTFULL].number == num_full) return true;
  error_ =
      "the pairs of geoms that may touch within the step do not fit in mjData; enlarge it with "
      "<size memory=\"...\"/>";
  return false;
}

/// Finds the pairs that may touch, and the time until which each of them is apart.
/// @return false if there are no such pairs
bool ConservativeAdvancement::start(const mjModel* m, double duration, double ignored_distance,
                                    Touch* touch) {
  mjModel* const exact = exact_.follow(m);
  exact->opt.ccd_tolerance = std::min(m->opt.ccd_tolerance, 1e-8);
  exact->opt.ccd_iterations = std::max(m->opt.ccd_iterations, 200);
  bounds_.calc(m, qpos_.data(), qvel_.data(), duration, mocap_);
  advance(m, 0);
  find_pairs(m, duration);
  std::size_t num_apart = 0;
  for (Pair& pair : pairs_) {
    ++touch->num_distances;
    double distance = 0;
    pair.acceleration =
        calc_acceleration_bound(m, pair.geoms[0]) + calc_acceleration_bound(m, pair.geoms[1]);
    pair.safe_time = calc_safe_time(m, pair, duration, &distance);
    if (distance > ignored_distance) pairs_[num_apart++] = pair;
  }
  pairs_.resize(num_apart);
  if (num_apart == 0) touch->time = duration;
  return num_apart > 0;
}

/// Moves the bodies from the start to a time.
void ConservativeAdvancement::advance(const mjModel* m, double time) {
  mjData* e = data_.get();
  std::copy(qpos_.begin(), qpos_.end(), e->qpos);
  if (time > 0) mj_integratePos(m, e->qpos, qvel_.data(), time);
  if (mocap_) mocap_->place(m, e, start_time_ + time);
  mj_kinematics(m, e);
  mj_comPos(m, e);
  velocities_.calc(m, e, qvel_.data(), mocap_);
}

/// Finds the pairs that MuJoCo would collide and whose bounding balls may touch.
void ConservativeAdvancement::find_pairs(const mjModel* m, double duration) {
  mjData* e = data_.get();
  mj_collision(make_balls(m, duration), e);
  pairs_.clear();
  for (int i = 0; i < e->ncon; ++i) {
    const mjContact& con = e->contact[i];
    std::array<int, 2> geoms{con.geom[0], con.geom[1]};
    if (m->geom_type[geoms[0]] > m->geom_type[geoms[1]]) std::swap(geoms[0], geoms[1]);
    const bool is_new = pairs_.empty() || pairs_.back().geoms != geoms;
    if (is_new && mjCOLLISIONFUNC[m->geom_type[geoms[0]]][m->geom_type[geoms[1]]])
      pairs_.push_back({.geoms = geoms, .margin = con.includemargin});
  }
  // Contacts of a height field with one geom need not be consecutive: remove duplicate pairs.
  std::sort(pairs_.begin(), pairs_.end(),
            [](const Pair& a, const Pair& b) { return a.geoms < b.geoms; });
  const auto is_same = [](const Pair& a, const Pair& b) { return a.geoms == b.geoms; };
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end(), is_same), pairs_.end());
}

/// Replaces all geoms except planes and height fields by their bounding balls, so that each pair
/// has one contact and no pair is missed. The broadphase keeps the boxes around the true shapes.
const mjModel* ConservativeAdvancement::make_balls(const mjModel* m, double duration) {
  mjModel* const balls = balls_.follow(m);
  disable_midphase(balls);
  disable_sleep(balls);
  int* const type = balls_.own(&mjModel::geom_type, m->ngeom);
  int* const dataid = balls_.own(&mjModel::geom_dataid, m->ngeom);
  mjtNum* const size = balls_.own(&mjModel::geom_size, 3 * m->ngeom);
  mjtNum* const gap = balls_.own(&mjModel::geom_gap, m->ngeom);
  mjtNum* const body_margin = balls_.own(&mjModel::body_margin, m->nbody);
  std::fill_n(body_margin, m->nbody, 0.0);
  for (int geom = 0; geom < m->ngeom; ++geom) {
    if (!keeps_shape(m, geom)) {
      type[geom] = mjGEOM_SPHERE;
      dataid[geom] = -1;
      std::fill_n(size + 3 * geom, 3, m->geom_rbound[geom]);
    }
    gap[geom] = kTouching + duration * calc_speed(m, geom) +
                0.5 * duration * duration * calc_acceleration_bound(m, geom);
    mjtNum& margin = body_margin[m->geom_bodyid[geom]];
    margin = std::max(margin, m->geom_margin[geom] + gap[geom]);
  }
  mjtNum* const pair_gap = balls_.own(&mjModel::pair_gap, m->npair);
  for (int i = 0; i < m->npair; ++i) pair_gap[i] = gap[m->pair_geom1[i]] + gap[m->pair_geom2[i]];
  return balls;
}

/// Returns a time for which a pair stays apart from its present pose. A result above `limit` only
/// means that the time is longer than the limit.
/// @param distance out: the present distance minus the margin, or a lower bound if the geoms are
///     out of reach [m]
double ConservativeAdvancement::calc_safe_time(const mjModel* m, const Pair& pair, double limit,
                                               double* distance) {
  const auto [geom1, geom2] = pair.geoms;
  if (m->geom_type[geom1] == mjGEOM_HFIELD)
    return calc_safe_time_of_hfield(m, pair, limit, distance);
  const double speed = calc_speed(m, geom1) + calc_speed(m, geom2);
  const double reach = kTouching + limit * speed + 0.5 * limit * limit * pair.acceleration;
  mjtNum ends[6];
  const double limit_distance = pair.margin + reach;
  Gap gap{.distance = measure(geom1, geom2, limit_distance, ends)};
  *distance = gap.distance - pair.margin;
  if (*distance <= kTouching) return 0;
  if (gap.distance >= limit_distance) return kNever;
  for (int i = 0; i < 3; ++i) gap.n[i] = (ends[3 + i] - ends[i]) / gap.distance;
  return calc_closing_time(m, pair, gap);
}

/// Returns the distance of two geoms, or `limit` if it is above that.
/// @param ends out: the nearest points of both, one after the other
double ConservativeAdvancement::measure(int geom1, int geom2, double limit, double ends[6]) {
  const mjModel* const exact = exact_.get();
  const bool is_on_plane = exact->geom_type[geom1] == mjGEOM_PLANE;
  // MuJoCo's formula may be wrong by up to the radius, see correct_plane_contacts.
  if (!is_on_plane || exact->geom_type[geom2] != mjGEOM_CYLINDER)
    return mj_geomDistance(exact, data_.get(), geom1, geom2, limit, ends);
  const double distance = calc_plane_distance(exact, data_.get(), geom1, geom2, ends + 3);
  const mjtNum* R = data_->geom_xmat + 9 * geom1;
  for (int i = 0; i < 3; ++i) ends[i] = ends[3 + i] - distance * R[3 * i + 2];
  return std::min(distance, limit);
}

/// Returns the same time for a height field. MuJoCo gives the distances of the prisms within a
/// reach, but of at most mjMAXCONPAIR prisms. The reach is halved until all of them fit.
double ConservativeAdvancement::calc_safe_time_of_hfield(const mjModel* m, const Pair& pair,
                                                         double limit, double* distance) {
  const auto [field, geom] = pair.geoms;
  const mjfCollision collide = mjCOLLISIONFUNC[mjGEOM_HFIELD][m->geom_type[geom]];
  const double speed = calc_speed(m, geom);
  double reach = kTouching + limit * speed + 0.5 * limit * limit * pair.acceleration;
  mjPreContact parts[mjMAXCONPAIR];
  int num_parts = collide(exact_.get(), data_.get(), parts, field, geom, pair.margin + reach);
  while (num_parts >= mjMAXCONPAIR && reach > kTouching) {
    reach *= 0.5;
    num_parts = collide(exact_.get(), data_.get(), parts, field, geom, pair.margin + reach);
  }
  // Prisms beyond the reach may approach from any direction.
  double time = solve_travel_time(std::max(0.0, reach - 0.5 * kTouching), speed, pair.acceleration);
  if (time >= limit) time = kNever;
  *distance = reach;
  for (int i = 0; i < num_parts; ++i) {
    Gap gap{.distance = parts[i].dist};
    std::copy_n(parts[i].normal, 3, gap.n);
    *distance = std::min(*distance, gap.distance - pair.margin);
    time = std::min(time, calc_closing_time(m, pair, gap));
  }
  return time;
}

/// Returns the time until the gap may be half the tolerance [s].
double ConservativeAdvancement::calc_closing_time(const mjModel* m, const Pair& pair,
                                                  const Gap& gap) const {
  const double away[3] = {-gap.n[0], -gap.n[1], -gap.n[2]};
  const double speed =
      calc_approach_speed(m, pair.geoms[0], gap.n) + calc_approach_speed(m, pair.geoms[1], away);
  const double distance = gap.distance - pair.margin - 0.5 * kTouching;
  return solve_travel_time(std::max(0.0, distance), speed, pair.acceleration);
}

/// Returns a bound on the velocity along n of the points of the geom's core [m/s].
double ConservativeAdvancement::calc_approach_speed(const mjModel* m, int geom,
                                                    const double n[3]) const {
  const int body = m->geom_bodyid[geom];
  const double* w = velocities_.of_body(body);
  const double* v = w + 3;
  const mjtNum* com = data_->subtree_com + 3 * m->body_rootid[body];
  double r[3], turned[3], tilt[3];
  mju_sub3(r, data_->geom_xpos + 3 * geom, com);
  mju_cross(turned, w, r);
  mju_cross(tilt, n, w);
  return mju_dot3(n, v) + mju_dot3(n, turned) + mju_norm3(tilt) * calc_core_radius(m, geom);
}

/// Returns a bound on the speed of the points of the geom's core [m/s].
double ConservativeAdvancement::calc_speed(const mjModel* m, int geom) const {
  const int body = m->geom_bodyid[geom];
  const double* w = velocities_.of_body(body);
  const mjtNum* com = data_->subtree_com + 3 * m->body_rootid[body];
  double r[3], v[3];
  mju_sub3(r, data_->geom_xpos + 3 * geom, com);
  mju_cross(v, w, r);
  mju_addTo3(v, w + 3);
  return mju_norm3(v) + mju_norm3(w) * calc_core_radius(m, geom);
}

/// Returns a bound on the acceleration of the points of the geom's core [m/s^2].
double ConservativeAdvancement::calc_acceleration_bound(const mjModel* m, int geom) const {
  const double distance = mju_norm3(m->geom_pos + 3 * geom) + calc_core_radius(m, geom);
  return bounds_.calc_acceleration(m->geom_bodyid[geom], distance);
}

void MotionBounds::calc(const mjModel* m, const double* qpos, const double* qvel, double duration,
                        const MocapMotion* mocap) {
  frames_.resize(m->nbody);
  frames_[0] = {};
  for (int body = 1; body < m->nbody; ++body) {
    Frame frame = frames_[m->body_parentid[body]];
    frame.shift(mju_norm3(m->body_pos + 3 * body));
    if (m->body_mocapid[body] >= 0) {
      const double* V = mocap ? mocap->of_body(m, body) : nullptr;
      frame = {.spin = V ? mju_norm3(V) : 0};
    }
    const int begin = m->body_jntadr[body];
    for (int joint = begin; joint < begin + m->body_jntnum[body]; ++joint)
      add_joint(m, joint, qpos, qvel, duration, &frame);
    frames_[body] = frame;
  }
}

void MotionBounds::add_joint(const mjModel* m, int joint, const double* qpos, const double* qvel,
                             double duration, Frame* frame) {
  const double* v = qvel + m->jnt_dofadr[joint];
  const int adr = m->jnt_qposadr[joint];
  switch (m->jnt_type[joint]) {
    case mjJNT_FREE: *frame = {.spin = mju_norm3(v + 3)}; break;
    case mjJNT_SLIDE:
      frame->slide(std::abs(*v), std::abs(qpos[adr] - m->qpos0[adr]) + duration * std::abs(*v));
      break;
    default: {
      const double to_anchor = mju_norm3(m->jnt_pos + 3 * joint);
      frame->shift(to_anchor);
      frame->turn(m->jnt_type[joint] == mjJNT_BALL ? mju_norm3(v) : std::abs(*v));
      frame->shift(to_anchor);
      break;
    }
  }
}

}  // namespace stiction::plant
