#include "stiction/formulations/convex/compensated_velocity.hpp"

#include "stiction/contact/jacobian.hpp"

namespace stiction::formulations {

CompensatedMotion::CompensatedMotion(const contact::ContactProblem& problem,
                                     std::span<const SegmentBlock> segments, const double* v,
                                     const double* low) {
  for (const SegmentBlock& s : segments) {
    const auto speed = [&](int dof) {
      return math::DoubleDouble::sum(v[s.dof + dof], low[s.dof + dof]);
    };
    contact::for_each_column(problem, *s.segment, [&](int dof, const double* column) {
      for (int i = 0; i < 3; ++i) {
        w_[i] += column[i] * speed(dof);
        v_[i] += column[3 + i] * speed(dof);
      }
    });
  }
}

std::array<double, 6> CompensatedMotion::calc_velocity(const contact::Contact& contact) const {
  const auto& r = contact.offset;
  const math::DoubleDouble v_p[3] = {v_[0] + w_[1] * r[2] - w_[2] * r[1],
                                     v_[1] + w_[2] * r[0] - w_[0] * r[2],
                                     v_[2] + w_[0] * r[1] - w_[1] * r[0]};
  const auto along = [&](int axis, const math::DoubleDouble* a) {
    const double* e = contact.R_WC.data() + 3 * axis;
    return e[0] * a[0] + e[1] * a[1] + e[2] * a[2];
  };
  return {static_cast<double>(along(0, v_p) + contact.bias[0]),
          static_cast<double>(along(1, v_p) + contact.bias[1]),
          static_cast<double>(along(2, v_p) + contact.bias[2]),
          static_cast<double>(along(2, w_) + contact.spin_bias),
          static_cast<double>(along(0, w_)),
          static_cast<double>(along(1, w_))};
}

}  // namespace stiction::formulations
