#pragma once

#include <array>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"

namespace stiction::plant {

/// Computes the velocities of all bodies from velocities of the dofs.
class BodyVelocities {
 public:
  /// Computes the velocities.
  /// @param data after mj_fwdKinematics
  /// @param qvel size nv, in MuJoCo's dofs
  /// @param mocap velocities of mocap bodies; null: they rest
  void calc(const mjModel* model, const mjData* data, const double* qvel,
            const MocapMotion* mocap = nullptr);

  /// Returns the velocity [w; v] of a body in the world frame, as in data->cvel: v is at the center
  /// of mass of the body's tree.
  const double* of_body(int body) const { return V_.data() + 6 * static_cast<std::size_t>(body); }

  /// The velocity of geom 2's body relative to geom 1's body, at a contact.
  struct AtContact {
    double normal = 0;                   // > 0 separates [m/s]
    std::array<double, 2> tangential{};  // t1, t2, with the velocities of moving surfaces [m/s]
    double slip = 0;                     // size of tangential [m/s]
  };
  /// Computes the velocity at the contact's position.
  AtContact calc_at_contact(const mjModel* model, const mjData* data, const mjContact& con) const {
    constexpr double kNone[3] = {};
    return calc_at_point(model, data, con, con.pos, is_carried(con) ? get_carried(con) : kNone);
  }
  /// Computes the velocity at another point of the contact.
  /// @param point world [m], size 3
  /// @param half_gap contact::BodyPair::half_gap
  AtContact calc_at_point(const mjModel* model, const mjData* data, const mjContact& con,
                          const double* point, const double* half_gap) const;

 private:
  std::vector<double> V_;
};

}  // namespace stiction::plant
