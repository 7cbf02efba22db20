#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Bounds on how the paths of bodies bend while mj_integratePos carries them: joints move at
/// constant speed, and their bodies at velocities that change in direction alone.
///
/// From the parent's frame to the child's, with W, B and A bounds on its angular velocity, its
/// angular acceleration and the acceleration of its origin:
///
///     a way p fixed in the frame   A += (B + W^2) |p|
///     a hinge or ball at speed w   B += W w,  W += w
///     a slide at speed s, out by x A += 2 W s + (B + W^2) |x|
///
/// A free body's frame is carried along a line, and turns about an axis that stays: A = B = 0.
class MotionBounds {
 public:
  /// @param qpos, qvel at the start; size nq, nv
  /// @param duration for which the bounds are to hold, >= 0 [s]
  void calc(const mjModel* model, const double* qpos, const double* qvel, double duration);

  /// Of all points of a body within a distance of its frame's origin [m]; their largest
  /// acceleration [m/s^2].
  double calc_acceleration(int body, double distance) const {
    const Frame& f = frames_[body];
    return f.linear + (f.angular + f.spin * f.spin) * distance;
  }

 private:
  struct Frame {
    double spin = 0;     // W [rad/s]
    double angular = 0;  // B [rad/s^2]
    double linear = 0;   // A [m/s^2]

    void shift(double way) { linear += (angular + spin * spin) * way; }
    void turn(double speed) {
      angular += spin * speed;
      spin += speed;
    }
    void slide(double speed, double extent) {
      linear += 2 * spin * speed;
      shift(extent);
    }
  };
  static void add_joint(const mjModel* m, int joint, const double* qpos, const double* qvel,
                        double duration, Frame* frame);

  std::vector<Frame> frames_;  // of each body
};

}  // namespace stiction::plant
