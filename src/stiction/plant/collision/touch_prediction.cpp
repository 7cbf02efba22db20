#include "stiction/plant/collision/touch_prediction.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/contact/gaps.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/repairs/convex_pair.hpp"

namespace stiction::plant {
namespace {

/// Normals that differ by less than this angle are the same [rad].
constexpr double kSameNormal = 2e-3;
/// A closed contact along which bodies approach by less than this share of their speed carries a
/// body that slides, also on a ledge that is narrower than the slop.
constexpr double kSteep = 0.05;

double calc_slop(const mjModel* m, const mjContact& con) {
  return std::min(TouchPrediction::kSlop,
                  TouchPrediction::kRelativeSlop * find_smaller_radius(m, con));
}

}  // namespace

TouchPrediction::TouchPrediction() {
  // The repair may add some.
  for (auto* contacts : {&found_, &hits_}) contacts->reserve(2 * mjMAXCONPAIR);
  is_met_.reserve(2 * mjMAXCONPAIR);
  stops_.reserve(8);
}

void TouchPrediction::Motion::calc_velocity(const double point[3], double time,
                                            double out[3]) const {
  double r[3];
  for (int i = 0; i < 3; ++i) r[i] = point[i] - center[i] - time * v[i];
  mju_cross(out, w, r);
  mju_addTo3(out, v);
}

Meeting TouchPrediction::predict(const mjModel* m, mjData* d, std::span<const mjContact> listed,
                                 const BodyVelocities& velocities, double horizon,
                                 CollisionRepair* repair, bool has_constraints) {
  constexpr int kMaxRounds = 8;
  const mjContact like = listed.front();  // the list may move
  if (!mjCOLLISIONFUNC[m->geom_type[like.geom[0]]][m->geom_type[like.geom[1]]])
    return Meeting::kAsListed;
  // Two convex geoms meet once. A height field has several triangles to meet.
  const bool is_convex = m->geom_type[like.geom[0]] != mjGEOM_HFIELD;
  const double slop = slop_ = calc_slop(m, like);
  // The distance of convex geoms that overlap is their least overlap along any direction.
  const auto overlaps = [&](const mjContact& con) { return con.dist <= -slop; };
  if (is_convex && std::any_of(listed.begin(), listed.end(), overlaps)) return Meeting::kAsListed;
  start(m, d, like, velocities);
  horizon_ = horizon;
  parting_ = calc_parting();
  travel_ = contact::kTouchDistance / horizon;
  Closing first;
  if (!find_first(listed, true, &first)) return Meeting::kAsListed;
  if (!may_meet(m, like)) {
    hits_.clear();
    return Meeting::kNone;
  }
  is_met_.assign(listed.size(), 0);
  found_.assign(listed.begin(), listed.end());
  bool is_whole = true, goes_on = true;
  for (int round = 0; round < kMaxRounds && goes_on && is_whole; ++round) {
    // Overlap by the slop, by motion or, as far as this takes longer than the step, by a probe.
    const double duration = slop / first.speed;
    const bool is_slow = first.time + duration > horizon;
    const bool is_closed = first.time == 0 && !is_convex;
    time_ = is_slow ? (is_closed ? 0 : horizon) : first.time + duration;
    const auto collide_with_probe = [&](double length) {
      mju_scl3(probe_, first.normal, -length);
      place(d, time_, probe_);
      const bool has_memory = collide(m, d, like, repair, has_constraints);
      remove_unsupported(listed, slop);
      return has_memory;
    };
    is_whole = collide_with_probe(0);
    if (is_whole && is_slow && (is_closed || is_hit()))
      is_whole = collide_with_probe(slop - (time_ - first.time) * first.speed);
    const bool is_met = take_hits(listed, is_convex);
    goes_on = !(is_met && is_convex) && find_first(found_, false, &first);
  }
  place(d, 0, nullptr);
  if (!is_whole || meets_as(listed)) return Meeting::kAsListed;
  if (hits_.empty()) return Meeting::kNone;
  if (!is_convex) keep_others(listed);
  return Meeting::kOtherwise;
}

void TouchPrediction::start(const mjModel* m, const mjData* d, const mjContact& con,
                            const BodyVelocities& velocities) {
  time_ = 0;
  hits_.clear();
  stops_.clear();
  for (int side = 0; side < 2; ++side) {
    Motion& motion = motions_[side];
    motion.geom = con.geom[side];
    const int body = m->geom_bodyid[motion.geom];
    const double* V = velocities.of_body(body);
    std::copy_n(d->geom_xpos + 3 * motion.geom, 3, motion.position);
    std::copy_n(d->geom_xmat + 9 * motion.geom, 9, motion.rotation);
    std::copy_n(d->xipos + 3 * body, 3, motion.center);
    std::copy_n(V, 3, motion.w);
    double r[3];
    mju_sub3(r, motion.center, d->subtree_com + 3 * m->body_rootid[body]);
    mju_cross(motion.v, motion.w, r);
    mju_addTo3(motion.v, V + 3);
  }
}

/// False if the balls around two geoms stay apart by more than the slop until the horizon.
bool TouchPrediction::may_meet(const mjModel* m, const mjContact& con) const {
  const auto is_infinite = [&](int geom) { return m->geom_rbound[geom] <= 0; };
  if (is_infinite(con.geom[0]) || is_infinite(con.geom[1])) return true;
  double x[3], v[3], u[3], arc = 0;
  mju_sub3(x, motions_[1].position, motions_[0].position);
  for (int side = 0; side < 2; ++side) {
    const Motion& motion = motions_[side];
    motion.calc_velocity(motion.position, 0, side == 0 ? u : v);
    double lever[3];
    mju_sub3(lever, motion.position, motion.center);
    arc += 0.5 * mju_dot3(motion.w, motion.w) * horizon_ * horizon_ * mju_norm3(lever);
  }
  mju_subFrom3(v, u);
  const double v2 = mju_dot3(v, v);
  const double time = v2 > 0 ? std::clamp(-mju_dot3(x, v) / v2, 0.0, horizon_) : 0;
  mju_addToScl3(x, v, time);
  const double radius = m->geom_rbound[con.geom[0]] + m->geom_rbound[con.geom[1]];
  return mju_norm3(x) <= radius + con.includemargin + 2 * slop_ + arc;
}

/// Moves both geoms from their start.
/// @param probe displacement of the second geom, or null
void TouchPrediction::place(mjData* d, double time, const double* probe) {
  for (Motion& motion : motions_) {
    mjtNum* x = d->geom_xpos + 3 * motion.geom;
    mjtNum* R = d->geom_xmat + 9 * motion.geom;
    std::copy_n(motion.position, 3, x);
    std::copy_n(motion.rotation, 9, R);
    if (time == 0) continue;
    mjtNum axis[3], q[4], r[3];
    std::copy_n(motion.w, 3, axis);
    const double angle = time * mju_normalize3(axis);
    mju_axisAngle2Quat(q, axis, angle);
    mju_quat2Mat(motion.turn, q);
    mju_mulMatMat(R, motion.turn, motion.rotation, 3, 3, 3);
    mju_sub3(r, motion.position, motion.center);
    mju_mulMatVec3(x, motion.turn, r);
    mju_addTo3(x, motion.center);
    mju_addToScl3(x, motion.v, time);
  }
  mjtNum* const second = d->geom_xpos + 3 * motions_[1].geom;
  if (probe) mju_addTo3(second, probe);
  if (time == 0) return;
  for (const Stop& stop : stops_)
    mju_addToScl3(second, stop.normal, -stop.v_n * (time - stop.time));
}

/// Collides the geoms at the present pose and corrects their contacts.
/// @return false if data have no memory for them
bool TouchPrediction::collide(const mjModel* m, mjData* d, const mjContact& like,
                              CollisionRepair* repair, bool has_constraints) {
  const int g1 = like.geom[0], g2 = like.geom[1], begin = d->ncon;
  const double cutoff = like.includemargin + find_gap(m, g1, g2);
  mjPreContact parts[mjMAXCONPAIR];
  const int num = mjCOLLISIONFUNC[m->geom_type[g1]][m->geom_type[g2]](m, d, parts, g1, g2, cutoff);
  found_.clear();
  for (int i = 0; i < num; ++i) {
    mjContact& con = found_.emplace_back(like);
    std::copy_n(parts[i].pos, 3, con.pos);
    set_normal(parts[i].normal, &con);
    con.exclude = kTakesPart;
    set_distance(parts[i].dist, &con);
  }
  if (num == 0) return true;
  if (has_constraints) {
    if (!repair->have_right_normal(m, d, found_)) found_.clear();
    return true;
  }
  bool is_whole = true;
  for (const mjContact& con : found_) is_whole = is_whole && mj_addContact(m, d, &con) == 0;
  if (is_whole) repair->run(m, d, begin);
  found_.assign(d->contact + begin, d->contact + d->ncon);
  d->ncon = begin;
  return is_whole;
}

/// Computes the velocity of the second body relative to the first one, without stops [m/s].
void TouchPrediction::calc_relative_velocity(const mjContact& con, double time,
                                             double out[3]) const {
  double first[3];
  motions_[0].calc_velocity(con.pos, time, first);
  motions_[1].calc_velocity(con.pos, time, out);
  mju_subFrom3(out, first);
}

/// Returns the normal velocity of the motion without stops [m/s].
double TouchPrediction::calc_free_velocity(const mjContact& con, double time) const {
  double v[3];
  calc_relative_velocity(con, time, v);
  return mju_dot3(v, con.frame);
}

double TouchPrediction::calc_normal_velocity(const mjContact& con, double time) const {
  double v_n = calc_free_velocity(con, time);
  for (const Stop& stop : stops_) v_n -= stop.v_n * mju_dot3(stop.normal, con.frame);
  return v_n;
}

/// Returns the relative speed of the bodies at a contact of the start [m/s].
double TouchPrediction::calc_speed(const mjContact& con) const {
  double v[3];
  calc_relative_velocity(con, 0, v);
  return mju_norm3(v);
}

/// Finds the first contact that closes.
/// @param takes_closed true: also those that are closed and approach, more than they slide
bool TouchPrediction::find_first(std::span<const mjContact> contacts, bool takes_closed,
                                 Closing* first) const {
  bool is_any = false;
  const double after = time_;
  for (const mjContact& con : contacts) {
    const double gap = calc_gap(con), v_n = calc_normal_velocity(con, after);
    if (v_n > -travel_ || (gap <= 0 && (!takes_closed || -v_n < kSteep * calc_speed(con))))
      continue;
    const double time = after + std::max(gap, 0.0) / -v_n;
    if (time >= horizon_ || (is_any && time >= first->time)) continue;
    is_any = true;
    first->time = time;
    first->speed = -v_n;
    std::copy_n(con.frame, 3, first->normal);
  }
  return is_any;
}

/// True if a contact of the present pose has the normal of a listed one, or this normal has turned
/// with one of the bodies: a face keeps its contact.
bool TouchPrediction::continues(const mjContact& con, const mjContact& listed) const {
  if (have_same_normal(con.frame, listed.frame, kSameNormal)) return true;
  return time_ > 0 && std::any_of(motions_, motions_ + 2, [&](const Motion& motion) {
           double normal[3];
           mju_mulMatTVec3(normal, motion.turn, con.frame);
           return have_same_normal(normal, listed.frame, kSameNormal);
         });
}

/// Removes contacts with the normal of a listed one that have not become as deep as the motion
/// along the normal should make them: the geoms do not overlap across it. MuJoCo gives such a
/// contact the distance 0 and any normal.
void TouchPrediction::remove_unsupported(std::span<const mjContact> listed, double slop) {
  std::erase_if(found_, [&](const mjContact& con) {
    return std::any_of(listed.begin(), listed.end(), [&](const mjContact& from) {
      if (!continues(con, from)) return false;
      const double v_n = calc_normal_velocity(from, 0);
      const double expected = from.dist + time_ * v_n + mju_dot3(probe_, from.frame);
      return v_n < -travel_ && con.dist > expected + 0.5 * slop + calc_arc(from, time_);
    });
  });
}

/// Returns by how much the points of a contact leave their straight paths, as their bodies turn
/// [m].
double TouchPrediction::calc_arc(const mjContact& from, double time) const {
  double arc = 0;
  for (const Motion& motion : motions_) {
    double lever[3];
    mju_sub3(lever, from.pos, motion.center);
    arc += 0.5 * mju_dot3(motion.w, motion.w) * time * time * mju_norm3(lever);
  }
  return arc;
}

/// True if a contact is closed and approaches.
bool TouchPrediction::is_hit() const {
  return std::any_of(found_.begin(), found_.end(), [&](const mjContact& con) {
    return calc_gap(con) <= 0 && calc_normal_velocity(con, time_) < -travel_;
  });
}

/// Takes the contacts with which the geoms meet at the present pose, and stops the motion along
/// their normals.
/// @param takes_all true: also those with other normals
/// @return true if there are any
bool TouchPrediction::take_hits(std::span<const mjContact> listed, bool takes_all) {
  const std::size_t before = hits_.size();
  const auto is_new = [&](const mjContact& con) {
    return std::none_of(hits_.begin(), hits_.begin() + before, [&](const mjContact& hit) {
      return have_same_normal(hit.frame, con.frame, kSameNormal);
    });
  };
  for (const mjContact& con : found_) {
    const double v_n = calc_normal_velocity(con, time_);
    if (calc_gap(con) > 0 || v_n > -travel_ || !is_new(con)) continue;
    for (const mjContact& other : found_) {
      if (!takes_all && !have_same_normal(con.frame, other.frame, kSameNormal)) continue;
      hits_.push_back(carry_back(other));
      for (std::size_t i = 0; i < listed.size(); ++i)
        if (continues(other, listed[i])) is_met_[i] = 1;
    }
    Stop stop{.time = time_, .v_n = v_n};
    std::copy_n(con.frame, 3, stop.normal);
    stops_.push_back(stop);
    if (takes_all) break;
  }
  return hits_.size() > before;
}

/// Adds the listed contacts that do not close.
void TouchPrediction::keep_others(std::span<const mjContact> listed) {
  const auto num_hits = static_cast<std::ptrdiff_t>(hits_.size());
  for (const mjContact& con : listed)
    if (!closes(con) && std::none_of(hits_.begin(), hits_.begin() + num_hits, [&](const auto& hit) {
          return have_same_normal(hit.frame, con.frame, kSameNormal);
        }))
      hits_.push_back(con);
}

bool TouchPrediction::closes(const mjContact& con) const {
  const double v_n = calc_free_velocity(con, 0) + parting_;
  return v_n <= -travel_ && calc_gap(con) < -horizon_ * v_n;
}

/// Returns the speed at which two bodies that turn together part at the horizon, because here their
/// centers move along lines: at most T w_A . w_B |p_AB| [m/s]. Forces that hold them together are
/// not known.
double TouchPrediction::calc_parting() const {
  const auto& [A, B] = motions_;
  return horizon_ * std::max(0.0, mju_dot3(A.w, B.w)) * mju_dist3(A.center, B.center);
}

bool TouchPrediction::passes(const mjContact& con) const {
  constexpr double kLeastSpeed = 1e-3;  // [m/s]
  constexpr double kLargestArc = 0.02;  // relative to the slop
  return calc_speed(con) > kLeastSpeed && calc_arc(con, horizon_) < kLargestArc * slop_;
}

/// True if the geoms meet with the normals of all listed contacts that close within the horizon, if
/// only their own normals count.
bool TouchPrediction::meets_as(std::span<const mjContact> listed) const {
  for (std::size_t i = 0; i < listed.size(); ++i)
    if (!is_met_[i] && closes(listed[i])) return false;
  return true;
}

/// Carries a contact of the present pose back to the start of the step.
mjContact TouchPrediction::carry_back(const mjContact& con) const {
  mjContact carried = con;
  const double v_n = calc_normal_velocity(con, time_);
  set_distance(con.dist - time_ * v_n - mju_dot3(probe_, con.frame), &carried);
  // A body's lever arm is that of the pose, so its point moves back as its center does.
  double half[3];
  for (int i = 0; i < 3; ++i) {
    const double A = -time_ * motions_[0].v[i], B = -time_ * motions_[1].v[i];
    carried.pos[i] += 0.5 * (A + B - probe_[i]);
    half[i] = 0.5 * (B - A);
  }
  set_carried(half, &carried);
  return carried;
}

}  // namespace stiction::plant
