#pragma once

#include <array>
#include <vector>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "stiction/sim/report/step_report.hpp"
#include "support/scene.hpp"

namespace stiction::campaign {

using Vector = Eigen::Vector3d;
using Jacobian = Eigen::Matrix<double, 3, Eigen::Dynamic>;

/// The motion of body B relative to body A at a contact of a report, by MuJoCo's Jacobians.
struct ContactMotion {
  Jacobian linear, angular;
  Vector point, normal, impulse, torque_impulse;

  ContactMotion(const support::Scene& scene, const sim::ContactReport& contacts, int c)
      : linear(Jacobian::Zero(3, scene->nv)), angular(Jacobian::Zero(3, scene->nv)) {
    const auto at = [c](const std::vector<double>& x) { return Vector(&x[3 * c]); };
    point = at(contacts.point);
    normal = at(contacts.normal);
    impulse = at(contacts.impulse);
    torque_impulse = at(contacts.torque_impulse);
    using RowMajor = Eigen::Matrix<double, 3, Eigen::Dynamic, Eigen::RowMajor>;
    std::array<Eigen::Array<bool, 1, Eigen::Dynamic>, 2> moves;
    for (int side = 0; side < 2; ++side) {
      RowMajor p(3, scene->nv), r(3, scene->nv);
      const double sign = side == 0 ? -1 : 1;
      const Vector own = point + sign * at(contacts.half_gap);
      mj_jac(scene.model, scene.data, p.data(), r.data(), own.data(),
             contacts.bodies[2 * c + side]);
      moves[side] = (p.array() != 0).colwise().any() || (r.array() != 0).colwise().any();
      linear += sign * p;
      angular += sign * r;
    }
    // A dof that carries both bodies does not move them relative to each other.
    for (int dof = 0; dof < scene->nv; ++dof)
      if (moves[0][dof] && moves[1][dof]) linear.col(dof).setZero();
  }
};

}  // namespace stiction::campaign
