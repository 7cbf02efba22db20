#include "stiction/plant/mocap/mocap_track.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <mujoco/mujoco.h>

namespace stiction::plant {
namespace {

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

}  // namespace

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

void MocapTrack::write_memory(std::vector<std::uint64_t>* words) const {
  const auto put = [words](double x) { words->push_back(std::bit_cast<std::uint64_t>(x)); };
  for (const double x : pose_) put(x);
  for (const double x : velocity_) put(x);
  for (const double x : change_) put(x);
  put(change_duration_);
  put(held_);
  put(num_alike_);
  put(is_jump_);
}

void MocapTrack::read_memory(std::span<const std::uint64_t, kNumWords> words) {
  *this = {};
  std::size_t next = 0;
  const auto get = [&] { return std::bit_cast<double>(words[next++]); };
  for (double& x : pose_) x = get();
  for (double& x : velocity_) x = get();
  for (double& x : change_) x = get();
  change_duration_ = get();
  held_ = get();
  num_alike_ = get();
  is_jump_ = get() != 0;
}

}  // namespace stiction::plant
