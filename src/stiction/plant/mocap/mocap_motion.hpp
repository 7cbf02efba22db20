#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/base/words.hpp"
#include "stiction/contact/contact_problem.hpp"

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

  void write_memory(base::WordWriter* words) const;
  void read_memory(base::WordReader* words);

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

/// A displacement of a mocap body by this share of the thickness of one of its geoms or more,
/// measured along the displacement, is a jump and no motion. If displacements are regular
/// (MocapTrack::is_regular), the motion in one step counts instead of the displacement, which may
/// be that of many steps.
inline constexpr double kLargestMocapShare = 0.5;

/// Returns a displacement of a mocap body as a share of the thickness of its geoms, measured along
/// the displacement of their corners; the largest share of all geoms that may collide. If there are
/// none, the thickness is the mean size of the model's bodies. Joints below the mocap body are in
/// their reference configuration, so that the share depends on poses only.
/// @param quat         orientation of the mocap body
/// @param displacement [rotation vector; translation]
double calc_mocap_share(const mjModel* model, int mocap, const double* quat,
                        const std::array<double, 6>& displacement);

/// The motion of all mocap bodies in a step. MuJoCo knows only their poses, which the caller sets
/// between steps; MocapTrack finds the velocities. All bodies of a mocap body's tree move with it.
class MocapMotion {
 public:
  /// Finds the motion of a step, and remembers the poses for the next one.
  /// @param data     the state and the mocap poses at the start of the step
  /// @param dt       duration of the step [s]
  /// @param goes_on  false if the last step was not one of the same mjData; there is no motion
  ///                 then, as if the time were not that at which the last step ended
  void start(const mjModel* model, const mjData* data, double dt, bool goes_on);

  /// Sets the time at which the next step begins if it goes on [s]. It is the sum of the start and
  /// the duration of the step, unless this is called.
  void end_at(double time) { next_time_ = time; }

  /// True if any mocap body moves in this step.
  bool is_any() const { return is_any_; }
  /// Returns the velocity [w; v] of the mocap body that carries a body, in the world frame, or null
  /// if it rests or there is none; v is at the mocap body's origin.
  const double* of_body(const mjModel* model, int body) const;
  /// Computes the velocity [w; v] that a body has as a part of a mocap body, at a point of the
  /// world.
  /// @param data after mj_fwdKinematics
  std::array<double, 6> calc_at_point(const mjModel* model, const mjData* data, int body,
                                      const double* point) const;
  /// Returns the part of the caller's last displacement that the velocity does not explain, as a
  /// share of the thickness of a geom; see kLargestMocapShare. It is 0 if the pose has not changed.
  double jump(int mocap) const { return is_known_ ? jumps_[mocap] : 0; }

  /// True if the caller has just moved the mocap body that carries a body in a way that is no
  /// motion: it rests in this step, in spite of the displacement.
  bool jumps(const mjModel* model, int body) const;

  /// Adds the velocity of body B's mocap body relative to that of body A to the bias of a contact.
  /// A body that yields does not close the contact.
  /// @param bodies A, B
  /// @param point  of the contact, in the world [m]
  /// @param half_gap contact::BodyPair::half_gap
  void add_to_bias(const mjModel* model, const mjData* data, const std::array<int, 2>& bodies,
                   const double* point, const std::array<double, 3>& half_gap,
                   contact::Contact* c) const;

  /// Lets a mocap body close no contact in this step; its tangential velocities remain.
  void yield(int mocap) { yields_[mocap] = 1; }
  bool yields(int mocap) const { return yields_[mocap]; }
  /// Lets a mocap body rest in this step.
  void rest(int mocap);

  /// Sets the mocap poses of data to those of a time within the step [s].
  void place(const mjModel* model, mjData* data, double time) const;
  /// True if a mocap body is not at the caller's pose at the start of the step.
  bool is_between() const;
  /// Sets the mocap poses of data to those at the start of the step.
  void place_at_start(const mjModel* model, mjData* data) const;

  /// Appends what a step remembers of the ones before; nothing if the model has no mocap bodies.
  void write_memory(const mjModel* model, base::WordWriter* words) const;
  /// @throws Error if the words are not those of write_memory
  void read_memory(const mjModel* model, base::WordReader* words);

 private:
  using Velocity = MocapTrack::Velocity;
  void resize(const mjModel* m);
  void add_velocity(const mjModel* m, const mjData* d, int body, double sign, const double* point,
                    contact::Contact* c) const;

  double start_time_ = 0;                                        // of the step [s]
  double next_time_ = std::numeric_limits<double>::quiet_NaN();  // start of the next step [s]
  double time_step_ = 0;                                         // of the last step [s]
  std::vector<MocapTrack> tracks_;
  std::vector<Velocity> velocities_;  // in this step
  std::vector<double> jumps_;
  std::vector<std::uint8_t> yields_;
  bool is_known_ = false;  // start() was called
  bool is_any_ = false;
};

}  // namespace stiction::plant
