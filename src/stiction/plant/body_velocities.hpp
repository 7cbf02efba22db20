#pragma once

#include <vector>

#include <mujoco/mujoco.h>

namespace stiction::plant {

/// Velocities of all bodies, under any velocities of the dofs.
class BodyVelocities {
 public:
  /// @param data after mj_fwdKinematics
  /// @param qvel size nv, in MuJoCo's dofs
  void calc(const mjModel* model, const mjData* data, const double* qvel);

  /// A body's [w; v] at MuJoCo's reference point of its tree, world frame, as in data->cvel.
  const double* of_body(int body) const { return V_.data() + 6 * static_cast<std::size_t>(body); }

  /// Of geom 2's body relative to geom 1's, at a contact.
  struct AtContact {
    double normal = 0;  // > 0 separates [m/s]
    double slip = 0;    // tangential, with what moving surfaces add [m/s]
  };
  AtContact calc_at_contact(const mjModel* model, const mjData* data, const mjContact& con) const;

 private:
  std::vector<double> V_;
};

}  // namespace stiction::plant
