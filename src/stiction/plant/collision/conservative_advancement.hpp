#pragma once

#include <array>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/gaps.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/plant/mujoco/shadow_model.hpp"

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

/// The next time at which two geoms that are apart touch.
struct Touch {
  double time = 0;                   // from the start of the search, in [0, duration] [s]
  std::array<int, 2> geoms{-1, -1};  // the geoms that touch at `time`; -1: no touch was found
  int num_distances = 0;             // number of distances computed by the search
  bool is_given_up = false;          // the search stopped at `time`; no geoms touch before it
};

/// Finds the time until which no two geoms that are apart now touch each other. The method is
/// conservative advancement, [mirtich1996], with MuJoCo's exact distances.
///
/// Let n be the unit vector from the nearest point of A to that of B, and phi their distance. After
/// a time t the distance is at least the gap along n, which is at least
///
///     phi - c t - 1/2 K t^2,   c = n . (v_A - v_B) + rho_A |n x w_A| + rho_B |n x w_B|.
///
/// v is the velocity of the geom's center. A geom is a core shape around which a ball is swept; rho
/// is the radius of the core about the center (0 for a sphere). K bounds the acceleration of the
/// points of both geoms, see MotionBounds. The search moves all bodies to the time at which this
/// bound is half the tolerance, computes the distance there, and repeats.
///
/// Two geoms touch if their distance is their margin plus kTouching. MuJoCo decides which geoms may
/// touch, by contype and conaffinity, <exclude>, <pair>, parents and children. The search does not
/// support geoms of type sdf, which have no exact distance.
class ConservativeAdvancement {
 public:
  static constexpr double kTouching = contact::kTouchDistance;  // [m]
  /// The search gives up after kMaxDistances + kMaxDistancesPerPair num_pairs distances. This
  /// happens if bodies turn hundreds of times within the duration.
  static constexpr int kMaxDistances = 5000, kMaxDistancesPerPair = 100;

  /// @throws Error if the model has geoms of type sdf, or if MuJoCo raises an error
  explicit ConservativeAdvancement(const mjModel* model);
  ~ConservativeAdvancement();
  ConservativeAdvancement(ConservativeAdvancement&&) noexcept;
  ConservativeAdvancement& operator=(ConservativeAdvancement&&) noexcept;

  /// Computes a time until which no two geoms that are apart now touch each other. The time is
  /// never late. It is early by at most the time in which the geoms approach by the tolerance,
  /// unless the search gives up. After the first call this allocates only if more pairs are near
  /// each other than in all earlier calls.
  /// @param model    the model of the constructor, or one with other values and the same structure
  /// @param data     only time, qpos and mocap poses are read
  /// @param qvel     constant velocities with which mj_integratePos moves the bodies, size nv
  /// @param duration >= 0 [s]
  /// @param mocap    the motion of mocap bodies; null: they rest
  /// @param ignored_distance  pairs at most this far apart now are ignored, >= kTouching [m]
  /// @return false if MuJoCo raised an error or had no memory for all pairs; see error()
  bool calc(const mjModel* model, const mjData* data, const double* qvel, double duration,
            Touch* touch, double ignored_distance = kTouching, const MocapMotion* mocap = nullptr);
  /// The error of the last call that returned false.
  const char* error() const { return error_.c_str(); }

 private:
  /// Two geoms that may touch. As in MuJoCo, the geom of the lower type is first.
  struct Pair {
    std::array<int, 2> geoms{};
    double margin = 0;        // distance at which they touch [m]
    double acceleration = 0;  // K [m/s^2]
    double safe_time = 0;     // time until which they do not touch [s]
  };
  /// The gap between two geoms, or between two convex parts of them.
  struct Gap {
    double distance = 0;  // [m]
    double n[3] = {};     // unit vector from the first to the second
  };
  void advance(const mjModel* m, double time);
  void find_pairs(const mjModel* m, double duration);
  const mjModel* make_balls(const mjModel* m, double duration);
  bool start(const mjModel* m, double duration, double ignored_distance, Touch* touch);
  double calc_safe_time(const mjModel* m, const Pair& pair, double limit, double* distance);
  double calc_safe_time_of_hfield(const mjModel* m, const Pair& pair, double limit,
                                  double* distance);
  double measure(int geom1, int geom2, double limit, double ends[6]);
  double calc_closing_time(const mjModel* m, const Pair& pair, const Gap& gap) const;
  double calc_approach_speed(const mjModel* m, int geom, const double n[3]) const;
  double calc_speed(const mjModel* m, int geom) const;
  double calc_acceleration_bound(const mjModel* m, int geom) const;

  DataPtr data_;       // the moved bodies
  ShadowModel exact_;  // the model with finer convex collision
  ShadowModel balls_;  // the model with bounding balls as geoms, and gaps as wide as they may move
  std::vector<double> qpos_, qvel_;     // state at the start of the search
  double start_time_ = 0;               // of the search [s]
  const MocapMotion* mocap_ = nullptr;  // of the search
  BodyVelocities velocities_;
  MotionBounds bounds_;
  std::vector<Pair> pairs_;
  std::string error_;
};

}  // namespace stiction::plant
