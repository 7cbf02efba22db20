#pragma once

#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"

namespace stiction::plant {

/// Computes bounds on the accelerations of bodies while mj_integratePos moves them with constant
/// joint velocities.
///
/// W, B and A bound the angular velocity of a frame, its angular acceleration, and the acceleration
/// of its origin. The bounds of a child's frame follow from those of its parent:
///
///     offset p fixed in the frame             A += (B + W^2) |p|
///     hinge or ball with speed w              B += W w,  W += w
///     slide with speed s and displacement x   A += 2 W s + (B + W^2) |x|
///
/// The frame of a free body or of a mocap body moves along a line and turns about a fixed axis, so
/// A = B = 0.
class MotionBounds {
 public:
  /// Computes the bounds of all bodies.
  /// @param qpos, qvel state at the start; size nq, nv
  /// @param duration time for which the bounds hold, >= 0 [s]
  /// @param mocap velocities of mocap bodies; null: they rest
  void calc(const mjModel* model, const double* qpos, const double* qvel, double duration,
            const MocapMotion* mocap = nullptr);

  /// Returns a bound on the acceleration of all points of a body within a distance [m] of its
  /// frame's origin [m/s^2].
  double calc_acceleration(int body, double distance) const {
    const Frame& f = frames_[body];
    return f.linear + (f.angular + f.spin * f.spin) * distance;
  }

 private:
  struct Frame {
    double spin = 0;     // W [rad/s]
    double angular = 0;  // B [rad/s^2]
    double linear = 0;   // A [m/s^2]

    void shift(double distance) { linear += (angular + spin * spin) * distance; }
    void turn(double speed) {
      angular += spin * speed;
      spin += speed;
    }
    void slide(double speed, double displacement) {
      linear += 2 * spin * speed;
      shift(displacement);
    }
  };
  static void add_joint(const mjModel* m, int joint, const double* qpos, const double* qvel,
                        double duration, Frame* frame);

  std::vector<Frame> frames_;  // one per body
};

}  // namespace stiction::plant
