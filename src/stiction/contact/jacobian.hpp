#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/spatial.hpp"

/// Products with the Jacobian of a body pair's segment. Internal: Eigen types.
namespace stiction::contact {

/// Calls f(dof within the tree, 6-vector column) for each dof that moves the pair.
template <class F>
void for_each_column(const ContactProblem& problem, const Segment& segment, F&& f) {
  if (!segment.is_rigid_body) {
    for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
      f(problem.column_dof[c], problem.columns.data() + 6 * c);
    return;
  }
  // sign [I 0; -[r]x I]
  const auto& r = segment.offset;
  const double s = segment.sign;
  const double columns[6][6] = {{s, 0, 0, 0, -s * r[2], s * r[1]},
                                {0, s, 0, s * r[2], 0, -s * r[0]},
                                {0, 0, s, -s * r[1], s * r[0], 0},
                                {0, 0, 0, s, 0, 0},
                                {0, 0, 0, 0, s, 0},
                                {0, 0, 0, 0, 0, s}};
  for (int c = 0; c < 6; ++c) f(c, columns[c]);
}

/// V += J v, with v the tree's velocities.
inline void add_segment_velocity(const ContactProblem& problem, const Segment& segment,
                                 const double* v, math::Vector6* V) {
  if (segment.is_rigid_body) {
    const Eigen::Map<const math::Vector6> V_P(v);
    *V += segment.sign *
          math::shift_velocity(V_P, Eigen::Map<const math::Vector3>(segment.offset.data()));
    return;
  }
  for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
    *V += Eigen::Map<const math::Vector6>(problem.columns.data() + 6 * c) *
          v[problem.column_dof[c]];
}

/// f += J^T F, with F the wrench impulse [torque; force] at the pair's origin.
inline void add_segment_force(const ContactProblem& problem, const Segment& segment,
                              const math::Vector6& F, double* f) {
  if (segment.is_rigid_body) {
    Eigen::Map<math::Vector6> f_P(f);
    f_P += segment.sign * math::shift_wrench_transposed(
                              F, Eigen::Map<const math::Vector3>(segment.offset.data()));
    return;
  }
  for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
    f[problem.column_dof[c]] +=
        Eigen::Map<const math::Vector6>(problem.columns.data() + 6 * c).dot(F);
}

}  // namespace stiction::contact
