#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stiction::plant {

/// The motion of one mocap body, whose pose the caller sets now and then.
///
/// A displacement is the motion of the time T since the pose last changed. The body moves with the
/// velocity V of the last displacement, shortened to that of the displacement before, and rests if
/// the two point apart. Translation and rotation vector are treated each for itself. A single jump
/// is therefore no motion, and a motion is known after two displacements.
///
/// The body reaches the caller's pose at the start of the last step of the time T that follows the
/// change of the pose. At the start of this time, the body is behind the caller's pose by
/// V (T - dt). If the pose changes in every step, the body has the caller's pose at the start of
/// each step. If the pose changes in every n-th step, the body moves evenly between the poses. It
/// rests at the end of T if the pose has not changed again.
class MocapTrack {
 public:
  /// Position and unit quaternion in the world.
  using Pose = std::array<double, 7>;
  using Velocity = std::array<double, 6>;  // [w; v]; or a displacement, rotation vector first

  /// Poses that are held for longer are not samples of a motion [s].
  static constexpr double kLongestHold = 0.2;

  /// Forgets the motion; the body rests at this pose.
  void start(const Pose& pose);
  /// Goes on by one step.
  /// @param pose  the caller's at the start of the step
  /// @param last  duration of the step before [s]
  /// @param lever length by which rotations compare with translations [m]
  void advance(const Pose& pose, double last, double lever);
  /// True if the last displacement is the third or a later one of a row of similar displacements,
  /// which differ by half at most, at intervals that differ by one step at most.
  bool is_regular() const { return num_alike_ >= 2; }
  /// Lets the body rest at the caller's pose, because the last displacement is a jump. It gives the
  /// next displacement no velocity, unless displacements are regular.
  void rest();

  /// The displacement of the caller's pose that advance() found; zero if it has not changed.
  const Velocity& displacement() const { return displacement_; }
  /// The part of this displacement that the velocity does not explain.
  const Velocity& jump() const { return jump_; }
  /// The velocity in the step.
  const Velocity& velocity() const { return velocity_; }
  /// Returns the pose at a time since the start of the step [s].
  /// @param dt duration of the step [s]
  Pose calc_pose(double dt, double time) const;
  /// True if the pose at the start of the step is not the caller's.
  bool is_between(double dt) const;

  static constexpr std::size_t kNumWords = 23;
  void write_memory(std::vector<std::uint64_t>* words) const;
  /// @param words of write_memory
  void read_memory(std::span<const std::uint64_t, kNumWords> words);

 private:
  double calc_time_left(double dt) const;
  bool is_alike(double last, double lever) const;

  Pose pose_{0, 0, 0, 1};  // the caller's
  Velocity velocity_{};
  Velocity change_{};                                                 // last displacement
  double change_duration_ = std::numeric_limits<double>::infinity();  // since the one before [s]
  double held_ = 0;       // time since the pose changed, at the start of the step [s]
  double num_alike_ = 0;  // displacements in a row that are like the one before them
  bool is_jump_ = false;  // the last displacement
  Velocity displacement_{}, jump_{};
};

}  // namespace stiction::plant
