#include "stiction/plant/mocap_motion.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "stiction/base/error.hpp"

namespace stiction::plant {
namespace {

/// Returns true if an active connect or weld holds a body of a mocap body's tree.
bool is_held(const mjModel* m, const mjData* d, int mocap) {
  for (int i = 0; i < m->neq; ++i) {
    if (!d->eq_active[i] || (m->eq_type[i] != mjEQ_CONNECT && m->eq_type[i] != mjEQ_WELD)) continue;
    for (int body : {m->eq_obj1id[i], m->eq_obj2id[i]}) {
      if (m->eq_objtype[i] == mjOBJ_SITE) body = m->site_bodyid[body];
      if (m->body_mocapid[m->body_rootid[body]] == mocap) return true;
    }
  }
  return false;
}

/// Sets `out` to the vector `now`, shortened to the length of the vector `before`; 0 if the two
/// point apart.
void calc_common(const double* now, const double* before, double* out) {
  const double length = mju_norm3(now), limit = mju_norm3(before);
  const bool points_apart = !(mju_dot3(now, before) > 0);
  mju_scl3(out, now, points_apart ? 0 : length <= limit ? 1 : limit / length);
}

}  // namespace

void MocapMotion::resize(const mjModel* m) {
  poses_.resize(m->nmocap);
  changes_.resize(m->nmocap);
  velocities_.resize(m->nmocap);
  is_blamed_.assign(m->nmocap, 0);
}

void MocapMotion::start(const mjModel* m, const mjData* d, double dt, bool rests_if_held) {
  is_any_ = false;
  if (m->nmocap == 0) return;
  resize(m);
  const bool goes_on = d->time == next_time_ && (!memory_of_ || memory_of_ == d);
  for (int i = 0; i < m->nmocap; ++i) {
    Pose pose;
    std::copy_n(d->mocap_pos + 3 * i, 3, pose.data());
    std::copy_n(d->mocap_quat + 4 * i, 4, pose.data() + 3);
    mju_normalize4(pose.data() + 3);
    Velocity change{};
    if (goes_on) {
      mjtNum back[4], turn[4];
      mju_negQuat(back, poses_[i].data() + 3);
      mju_mulQuat(turn, pose.data() + 3, back);
      mju_quat2Vel(change.data(), turn, time_step_);
      for (int k = 0; k < 3; ++k) change[3 + k] = (pose[k] - poses_[i][k]) / time_step_;
    }
    velocities_[i] = {};
    if (goes_on && !(rests_if_held && is_held(m, d, i)))
      for (int part : {0, 3})
        calc_common(change.data() + part, changes_[i].data() + part, velocities_[i].data() + part);
    is_any_ = is_any_ || velocities_[i] != Velocity{};
    poses_[i] = pose;
    changes_[i] = change;
  }
  start_time_ = d->time;
  next_time_ = d->time + dt;
  time_step_ = dt;
  memory_of_ = d;
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

void MocapMotion::add_to_bias(const mjModel* m, const mjData* d, const std::array<int, 2>& bodies,
                              const double* point, contact::Contact* c) const {
  if (!of_body(m, bodies[0]) && !of_body(m, bodies[1])) return;
  const std::array<double, 6> V_A = calc_at_point(m, d, bodies[0], point);
  std::array<double, 6> V = calc_at_point(m, d, bodies[1], point);
  for (int i = 0; i < 6; ++i) V[i] -= V_A[i];
  for (int e = 0; e < 3; ++e) c->bias[e] += mju_dot3(c->R_WC.data() + 3 * e, V.data() + 3);
  c->spin_bias += mju_dot3(c->R_WC.data() + 6, V.data());
}

void MocapMotion::blame(const mjModel* m, int body) {
  if (of_body(m, body)) is_blamed_[m->body_mocapid[m->body_rootid[body]]] = 1;
}

bool MocapMotion::rest_blamed() {
  bool is_any_blamed = false;
  is_any_ = false;
  for (std::size_t i = 0; i < velocities_.size(); ++i) {
    is_any_blamed = is_any_blamed || is_blamed_[i];
    if (std::exchange(is_blamed_[i], 0)) velocities_[i] = {};
    is_any_ = is_any_ || velocities_[i] != Velocity{};
  }
  return is_any_blamed;
}

void MocapMotion::place(const mjModel* m, mjData* d, double time) const {
  if (!is_any_) return;
  const double duration = time - start_time_;
  for (int i = 0; i < m->nmocap; ++i) {
    mju_addScl3(d->mocap_pos + 3 * i, poses_[i].data(), velocities_[i].data() + 3, duration);
    mjtNum axis[3], turn[4];
    mju_copy3(axis, velocities_[i].data());
    const double speed = mju_normalize3(axis);
    mju_axisAngle2Quat(turn, axis, duration * speed);
    mju_mulQuat(d->mocap_quat + 4 * i, turn, poses_[i].data() + 3);
  }
}

void MocapMotion::write_memory(const mjModel* m, std::vector<std::uint64_t>* words) const {
  if (m->nmocap == 0) return;
  const auto put = [words](double x) { words->push_back(std::bit_cast<std::uint64_t>(x)); };
  put(next_time_);
  put(time_step_);
  for (int i = 0; i < m->nmocap; ++i) {
    const bool is_known = !poses_.empty();
    for (const double x : is_known ? poses_[i] : Pose{}) put(x);
    for (const double x : is_known ? changes_[i] : Velocity{}) put(x);
  }
}

void MocapMotion::read_memory(const mjModel* m, std::span<const std::uint64_t>* words) {
  if (m->nmocap == 0) return;
  const std::size_t size = 2 + 13 * static_cast<std::size_t>(m->nmocap);
  if (words->size() < size)
    throw Error(ErrorCode::kWrongShape, "state",
                "has too few numbers for the mocap bodies of this model; it belongs to another "
                "model");
  resize(m);
  std::size_t next = 0;
  const auto get = [words, &next] { return std::bit_cast<double>((*words)[next++]); };
  next_time_ = get();
  time_step_ = get();
  for (int i = 0; i < m->nmocap; ++i) {
    for (double& x : poses_[i]) x = get();
    for (double& x : changes_[i]) x = get();
  }
  memory_of_ = nullptr;
  is_any_ = false;
  *words = words->subspan(size);
}

}  // namespace stiction::plant
