#include "stiction/plant/mocap/mocap_motion.hpp"

#include <algorithm>
#include <bit>

#include "stiction/base/error.hpp"
#include "stiction/plant/mocap/mocap_extent.hpp"

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
                              const double* point, contact::Contact* c) const {
  add_velocity(m, d, bodies[0], -1, point, c);
  add_velocity(m, d, bodies[1], 1, point, c);
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

void MocapMotion::write_memory(const mjModel* m, std::vector<std::uint64_t>* words) const {
  if (m->nmocap == 0) return;
  words->push_back(std::bit_cast<std::uint64_t>(next_time_));
  words->push_back(std::bit_cast<std::uint64_t>(time_step_));
  for (int i = 0; i < m->nmocap; ++i)
    (tracks_.empty() ? MocapTrack() : tracks_[i]).write_memory(words);
}

void MocapMotion::read_memory(const mjModel* m, std::span<const std::uint64_t>* words) {
  if (m->nmocap == 0) return;
  const std::size_t size = 2 + MocapTrack::kNumWords * static_cast<std::size_t>(m->nmocap);
  if (words->size() < size)
    throw Error(ErrorCode::kWrongShape, "state",
                "has too few numbers for the mocap bodies of this model; it belongs to another "
                "model");
  resize(m);
  next_time_ = std::bit_cast<double>((*words)[0]);
  time_step_ = std::bit_cast<double>((*words)[1]);
  for (int i = 0; i < m->nmocap; ++i)
    tracks_[i].read_memory(
        words->subspan(2 + MocapTrack::kNumWords * i).first<MocapTrack::kNumWords>());
  is_any_ = is_known_ = false;
  *words = words->subspan(size);
}

}  // namespace stiction::plant
