#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"

namespace stiction::plant {

/// The velocities of mocap bodies. MuJoCo knows only their poses, which the caller sets between
/// steps, so the motion of the last two steps tells how a mocap body moves in the next one. It has
/// the last displacement per time, shortened to the length of the one before, and rests if the two
/// point apart; the same holds for its rotation vector. A jump of the pose, such as a reset, is
/// therefore no motion, and a motion is known after two steps.
///
/// All bodies of a mocap body's tree move with it. There is no velocity if the step is not the next
/// one of the same mjData.
class MocapMotion {
 public:
  /// Computes the velocities of a step, and remembers its poses for the next one.
  /// @param data the state and the mocap poses at the start of the step
  /// @param dt   duration of the step [s]
  /// @param rests_if_held true if mocap bodies with a connect or weld rest
  void start(const mjModel* model, const mjData* data, double dt, bool rests_if_held);

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

  /// Adds the velocity of body B's mocap body relative to that of body A to the bias of a contact.
  /// @param bodies A, B
  /// @param point  of the contact, in the world [m]
  void add_to_bias(const mjModel* model, const mjData* data, const std::array<int, 2>& bodies,
                   const double* point, contact::Contact* c) const;

  /// Notes that no velocities satisfy the contacts of a body. If a moving mocap body carries it, it
  /// is to blame.
  void blame(const mjModel* model, int body);
  /// Lets the mocap bodies that are to blame rest in this step.
  /// @return false if there are none
  bool rest_blamed();

  /// Sets the mocap poses of data to those of a time within the step [s].
  void place(const mjModel* model, mjData* data, double time) const;

  /// Appends what a step remembers of the ones before; nothing if the model has no mocap bodies.
  /// The words do not say to which mjData they belong: after read_memory they belong to those of
  /// the next step.
  void write_memory(const mjModel* model, std::vector<std::uint64_t>* words) const;
  /// Reads the words of write_memory from the front of `words` and removes them there.
  /// @throws Error if there are too few words
  void read_memory(const mjModel* model, std::span<const std::uint64_t>* words);

 private:
  /// Position and unit quaternion of one mocap body in the world.
  using Pose = std::array<double, 7>;
  using Velocity = std::array<double, 6>;  // [w; v]
  void resize(const mjModel* m);

  double start_time_ = 0;                                        // of the step [s]
  double next_time_ = std::numeric_limits<double>::quiet_NaN();  // start of the next step [s]
  double time_step_ = 0;                                         // of the last step [s]
  const mjData* memory_of_ = nullptr;    // the data of the last step; null: those of the next step
  std::vector<Pose> poses_;              // at the start of the last step
  std::vector<Velocity> changes_;        // displacement of the step before, per time
  std::vector<Velocity> velocities_;     // in this step
  std::vector<std::uint8_t> is_blamed_;  // see blame
  bool is_any_ = false;
};

}  // namespace stiction::plant
