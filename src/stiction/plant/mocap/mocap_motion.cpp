#include "stiction/plant/mocap/mocap_motion.hpp"

#include <algorithm>
#include <cmath>

#include <mujoco/mujoco.h>

#include "stiction/base/error.hpp"

namespace stiction::plant {
namespace {

MocapTrack::Pose read_pose(const mjData* d, int mocap) {
  MocapTrack::Pose pose;
  std::copy_n(d->mocap_pos + 3 * mocap, 3, pose.data());
  std::copy_n(d->mocap_quat + 4 * mocap, 4, pose.data() + 3);
  mju_normalize4(pose.data() + 3);
  return pose;
}

void write_pose(const MocapTrack::Pose& pose, int mocap, mjData* d) {
  std::copy_n(pose.data(), 3, d->mocap_pos + 3 * mocap);
  std::copy_n(pose.data() + 3, 4, d->mocap_quat + 4 * mocap);
}

/// True if the last displacement of a mocap body is no motion; see kLargestMocapShare.
/// @param dt duration of the step before [s]
bool is_jump(const mjModel* m, int mocap, const double* quat, const MocapTrack& track, double dt) {
  using Velocity = MocapTrack::Velocity;
  if (track.displacement() == Velocity{}) return false;
  // A displacement by exactly this share is a jump too, in spite of rounding.
  constexpr double kShare = kLargestMocapShare * (1 - 1e-9);
  if (calc_mocap_share(m, mocap, quat, track.displacement()) < kShare) return false;
  Velocity in_step = track.velocity();
  for (double& x : in_step) x *= dt;
  return !track.is_regular() || calc_mocap_share(m, mocap, quat, in_step) >= kShare;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-6;  // of sums of time steps

/// Returns the rotation vector and the translation from one pose to another.
MocapTrack::Velocity calc_displacement(const MocapTrack::Pose& from, const MocapTrack::Pose& to) {
  MocapTrack::Velocity out;
  mjtNum back[4], turn[4];
  mju_negQuat(back, from.data() + 3);
  mju_mulQuat(turn, to.data() + 3, back);
  mju_quat2Vel(out.data(), turn, 1);
  for (int k = 0; k < 3; ++k) out[3 + k] = to[k] - from[k];
  return out;
}

/// Sets `out` to the vector `now`, shortened to the length of the vector `before`; 0 if the two
/// point apart.
void calc_common(const double* now, const double* before, double* out) {
  const double length = mju_norm3(now), limit = mju_norm3(before);
  const bool points_apart = !(mju_dot3(now, before) > 0);
  mju_scl3(out, now, points_apart ? 0 : length <= limit ? 1 : limit / length);
}

/// Returns the square of the length of a displacement, in which a rotation counts by its motion at
/// a lever.
double calc_squared(const MocapTrack::Velocity& displacement, double lever) {
  const double *turn = displacement.data(), *moved = turn + 3;
  return lever * lever * mju_dot3(turn, turn) + mju_dot3(moved, moved);
}

MocapTrack::Velocity divide(MocapTrack::Velocity displacement, double duration) {
  for (double& x : displacement) x /= duration;
  return displacement;
}

/// A geom's bounding box in the frame of its mocap body.
struct Box {
  mjtNum center[3], R[9], half[3];
  double diameter = 0;  // of the geom's bounding sphere [m]
};

/// Returns the length of a vector as a share of the thickness along it, of the box or of the
/// bounding sphere.
double calc_share(const Box& box, const mjtNum* u) {
  mjtNum local[3];
  mju_mulMatTVec3(local, box.R, u);
  const double length2 = mju_dot3(u, u), length = std::sqrt(length2);
  double reach = 0;  // thickness times length
  for (int k = 0; k < 3; ++k) reach += 2 * box.half[k] * std::abs(local[k]);
  reach = std::min(reach, box.diameter * length);
  return reach > 0 ? length2 / reach : 0;
}

double calc_largest_share(const Box& box, const std::array<double, 6>& displacement) {
  double share = 0;
  for (int corner = 0; corner < 8; ++corner) {
    mjtNum local[3], r[3], u[3];
    for (int k = 0; k < 3; ++k) local[k] = (corner >> k & 1) ? box.half[k] : -box.half[k];
    mju_mulMatVec3(r, box.R, local);
    mju_addTo3(r, box.center);
    mju_cross(u, displacement.data(), r);
    mju_addTo3(u, displacement.data() + 3);
    share = std::max(share, calc_share(box, u));
  }
  return share;
}

/// Returns the bounding box of a geom in the frame of the mocap body, its root.
Box make_box(const mjModel* m, int geom, int root) {
  mjtNum p[3], q[4];
  mju_copy3(p, m->geom_pos + 3 * geom);
  mju_copy4(q, m->geom_quat + 4 * geom);
  for (int body = m->geom_bodyid[geom]; body != root; body = m->body_parentid[body]) {
    mjtNum turned[3], product[4];
    mju_rotVecQuat(turned, p, m->body_quat + 4 * body);
    mju_add3(p, turned, m->body_pos + 3 * body);
    mju_mulQuat(product, m->body_quat + 4 * body, q);
    mju_copy4(q, product);
  }
  Box box;
  const mjtNum* aabb = m->geom_aabb + 6 * geom;
  mju_quat2Mat(box.R, q);
  mju_copy3(box.half, aabb + 3);
  box.diameter = 2 * m->geom_rbound[geom];
  mju_mulMatVec3(box.center, box.R, aabb);
  mju_addTo3(box.center, p);
  return box;
}

bool may_collide(const mjModel* m, int geom) {
  if (m->geom_contype[geom] != 0 || m->geom_conaffinity[geom] != 0) return true;
  for (int i = 0; i < m->npair; ++i)
    if (m->pair_geom1[i] == geom || m->pair_geom2[i] == geom) return true;
  return false;
}

/// Returns a displacement in the frame of a body.
std::array<double, 6> turn_back(const double* quat, const std::array<double, 6>& displacement) {
  std::array<double, 6> out;
  mjtNum back[4];
  mju_negQuat(back, quat);
  for (const int part : {0, 3}) mju_rotVecQuat(out.data() + part, displacement.data() + part, back);
  return out;
}

}  // namespace

void MocapMotion::resize(const mjModel* m) {
  tracks_.resize(m->nmocap);
  velocities_.resize(m->nmocap);
  jumps_.assign(m->nmocap, 0.0);
  yields_.assign(m->nmocap, 0);
}

void MocapMotion::start(const mjModel* m, const mjData* d, double dt, bool goes_on) {
  is_any_ = false;
  if (m->nmocap == 0) return;
  resize(m);
  is_known_ = true;
  goes_on = goes_on && d->time == next_time_;
  for (int i = 0; i < m->nmocap; ++i) {
    MocapTrack& track = tracks_[i];
    const MocapTrack::Pose pose = read_pose(d, i);
    if (goes_on)
      track.advance(pose, time_step_, m->stat.meansize);
    else
      track.start(pose);
    if (is_jump(m, i, pose.data() + 3, track, time_step_)) track.rest();
    if (track.jump() != Velocity{})
      jumps_[i] = calc_mocap_share(m, i, pose.data() + 3, track.jump());
    velocities_[i] = track.velocity();
    is_any_ = is_any_ || velocities_[i] != Velocity{};
  }
  start_time_ = d->time;
  next_time_ = d->time + dt;
  time_step_ = dt;
}

const double* MocapMotion::of_body(const mjModel* m, int body) const {
  if (!is_any_) return nullptr;
  const int mocap = m->body_mocapid[m->body_rootid[body]];
  return mocap >= 0 && velocities_[mocap] != Velocity{} ? velocities_[mocap].data() : nullptr;
}

std::array<double, 6> MocapMotion::calc_at_point(const mjModel* m, const mjData* d, int body,
                                                 const double* point) const {
  std::array<double, 6> V{};
  const double* given = of_body(m, body);
  if (!given) return V;
  std::copy_n(given, 6, V.begin());
  mjtNum r[3], turned[3];
  mju_sub3(r, point, d->xpos + 3 * m->body_rootid[body]);
  mju_cross(turned, given, r);
  mju_addTo3(V.data() + 3, turned);
  return V;
}

bool MocapMotion::jumps(const mjModel* m, int body) const {
  const int mocap = m->body_mocapid[m->body_rootid[body]];
  if (mocap < 0 || !is_known_) return false;
  const MocapTrack& track = tracks_[mocap];
  return track.displacement() != Velocity{} && track.velocity() == Velocity{};
}

/// Adds `sign` times the velocity of a body to the bias of a contact.
void MocapMotion::add_velocity(const mjModel* m, const mjData* d, int body, double sign,
                               const double* point, contact::Contact* c) const {
  if (!of_body(m, body)) return;
  const std::array<double, 6> V = calc_at_point(m, d, body, point);
  const bool yields = yields_[m->body_mocapid[m->body_rootid[body]]];
  for (int e = 0; e < 3; ++e) {
    const double v = sign * mju_dot3(c->R_WC.data() + 3 * e, V.data() + 3);
    if (e < 2 || v > 0 || !yields) c->bias[e] += v;
  }
  c->spin_bias += sign * mju_dot3(c->R_WC.data() + 6, V.data());
}

void MocapMotion::add_to_bias(const mjModel* m, const mjData* d, const std::array<int, 2>& bodies,
                              const double* point, const std::array<double, 3>& half_gap,
                              contact::Contact* c) const {
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? -1 : 1;
    double p[3];
    for (int i = 0; i < 3; ++i) p[i] = point[i] + sign * half_gap[i];
    add_velocity(m, d, bodies[side], sign, p, c);
  }
}

void MocapMotion::rest(int mocap) {
  velocities_[mocap] = {};
  is_any_ = std::any_of(velocities_.begin(), velocities_.end(),
                        [](const Velocity& V) { return V != Velocity{}; });
}

void MocapMotion::place(const mjModel* m, mjData* d, double time) const {
  if (!is_any_) return;
  for (int i = 0; i < m->nmocap; ++i) {
    const bool rests = velocities_[i] == Velocity{};
    write_pose(tracks_[i].calc_pose(time_step_, rests ? 0 : time - start_time_), i, d);
  }
}

bool MocapMotion::is_between() const {
  return std::any_of(tracks_.begin(), tracks_.end(),
                     [this](const MocapTrack& track) { return track.is_between(time_step_); });
}

void MocapMotion::place_at_start(const mjModel* m, mjData* d) const {
  for (int i = 0; i < m->nmocap; ++i)
    if (tracks_[i].is_between(time_step_)) write_pose(tracks_[i].calc_pose(time_step_, 0), i, d);
}

void MocapMotion::write_memory(const mjModel* m, base::WordWriter* words) const {
  if (m->nmocap == 0) return;
  words->put(next_time_);
  words->put(time_step_);
  for (int i = 0; i < m->nmocap; ++i)
    (tracks_.empty() ? MocapTrack() : tracks_[i]).write_memory(words);
}

void MocapMotion::read_memory(const mjModel* m, base::WordReader* words) {
  if (m->nmocap == 0) return;
  resize(m);
  next_time_ = words->take_double();
  time_step_ = words->take_double();
  for (MocapTrack& track : tracks_) track.read_memory(words);
  is_any_ = is_known_ = false;
}

void MocapTrack::start(const Pose& pose) {
  *this = {};
  pose_ = pose;
}

/// True if the last displacement is similar to the one before, and their durations differ by one
/// step at most.
bool MocapTrack::is_alike(double last, double lever) const {
  if (!(std::abs(held_ - change_duration_) <= last * (1 + kRounding))) return false;
  Velocity difference;
  for (int i = 0; i < 6; ++i) difference[i] = displacement_[i] - change_[i];
  return calc_squared(difference, lever) <= 0.25 * calc_squared(change_, lever);
}

void MocapTrack::advance(const Pose& pose, double last, double lever) {
  held_ += last;
  displacement_ = jump_ = {};
  if (pose == pose_) {
    if (held_ >= change_duration_ * (1 - kRounding)) velocity_ = {};
    return;
  }
  displacement_ = calc_displacement(pose_, pose);
  velocity_ = {};
  const double longest = std::min(kLongestHold, 2 * change_duration_ + last);
  const bool has_rested = held_ > longest * (1 + kRounding);
  num_alike_ = is_alike(last, lever) ? num_alike_ + 1 : 0;
  if (!has_rested && (!is_jump_ || is_regular())) {
    const Velocity now = divide(displacement_, held_);
    const Velocity before = divide(change_, std::min(change_duration_, held_));
    for (const int part : {0, 3})
      calc_common(now.data() + part, before.data() + part, velocity_.data() + part);
  }
  for (int i = 0; i < 6; ++i) jump_[i] = displacement_[i] - velocity_[i] * held_;
  pose_ = pose;
  change_ = displacement_;
  change_duration_ = has_rested ? kInfinity : held_;
  held_ = 0;
  is_jump_ = false;
}

void MocapTrack::rest() {
  jump_ = displacement_;
  velocity_ = {};
  is_jump_ = true;
}

/// Returns the time from the start of the step until the body has the caller's pose [s].
double MocapTrack::calc_time_left(double dt) const {
  const double left = change_duration_ - held_ - dt;
  return velocity_ == Velocity{} || left <= kRounding * dt ? 0 : left;
}

bool MocapTrack::is_between(double dt) const { return calc_time_left(dt) != 0; }

MocapTrack::Pose MocapTrack::calc_pose(double dt, double time) const {
  const double duration = time - calc_time_left(dt);
  Pose out;
  mju_addScl3(out.data(), pose_.data(), velocity_.data() + 3, duration);
  mjtNum axis[3], turn[4];
  mju_copy3(axis, velocity_.data());
  const double speed = mju_normalize3(axis);
  mju_axisAngle2Quat(turn, axis, duration * speed);
  mju_mulQuat(out.data() + 3, turn, pose_.data() + 3);
  return out;
}

void MocapTrack::write_memory(base::WordWriter* words) const {
  words->put_all(pose_);
  words->put_all(velocity_);
  words->put_all(change_);
  words->put(change_duration_);
  words->put(held_);
  words->put(num_alike_);
  words->put(static_cast<double>(is_jump_));
}

void MocapTrack::read_memory(base::WordReader* words) {
  *this = {};
  const auto take_all = [words](auto* numbers) {
    for (double& x : *numbers) x = words->take_double();
  };
  take_all(&pose_);
  take_all(&velocity_);
  take_all(&change_);
  change_duration_ = words->take_double();
  held_ = words->take_double();
  num_alike_ = words->take_double();
  is_jump_ = words->take_double() != 0;
}

double calc_mocap_share(const mjModel* m, int mocap, const double* quat,
                        const std::array<double, 6>& displacement) {
  const std::array<double, 6> local = turn_back(quat, displacement);
  double share = 0;
  bool has_geoms = false;
  for (int geom = 0; geom < m->ngeom; ++geom) {
    const int root = m->body_rootid[m->geom_bodyid[geom]];
    if (m->body_mocapid[root] != mocap) continue;
    if (!may_collide(m, geom)) continue;
    has_geoms = true;
    share = std::max(share, calc_largest_share(make_box(m, geom, root), local));
  }
  if (has_geoms) return share;
  const double size = m->stat.meansize;
  return std::max(mju_norm3(displacement.data() + 3) / size, mju_norm3(displacement.data()));
}

}  // namespace stiction::plant
