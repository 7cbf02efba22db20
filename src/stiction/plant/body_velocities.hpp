#pragma once

#include <array>
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
    double normal = 0;                   // > 0 separates [m/s]
    std::array<double, 2> tangential{};  // t1, t2, with the velocities of moving surfaces [m/s]
    double slip = 0;                     // size of tangential [m/s]
  };
  AtContact calc_at_contact(const mjModel* model, const mjData* data, const mjContact& con) const {
    return calc_at_point(model, data, con, con.pos);
  }
  /// Computes them at another point of the contact.
  /// @param point world [m], size 3
  AtContact calc_at_point(const mjModel* model, const mjData* data, const mjContact& con,
                          const double* point) const;

 private:
  std::vector<double> V_;
};

}  // namespace stiction::plant
