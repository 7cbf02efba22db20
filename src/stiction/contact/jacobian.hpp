#pragma once

#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/six.hpp"

/// Products with the Jacobian of a body pair's segment. Internal: SIMD types.
namespace stiction::contact {

/// Calls f(dof within the block, 6-vector column) for each dof that moves the pair.
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

/// J v, with v the block's velocities.
inline math::Six calc_segment_velocity(const ContactProblem& problem, const Segment& segment,
                                       const double* v) {
  using math::Six;
  if (segment.is_rigid_body)
    return math::shift_velocity(Six::load(v) * segment.sign, segment.offset.data());
  Six V = Six::zero();
  for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
    V += Six::load(problem.columns.data() + 6 * c) * v[problem.column_dof[c]];
  return V;
}

/// f += J^T F, with F the wrench impulse [torque; force] at the pair's origin.
inline void add_segment_force(const ContactProblem& problem, const Segment& segment,
                              const math::Six& F, double* f) {
  using math::Six;
  if (segment.is_rigid_body) {
    const Six wrench = math::shift_wrench(F, segment.offset.data()) * segment.sign;
    (Six::load(f) + wrench).store(f);
    return;
  }
  for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
    f[problem.column_dof[c]] += dot(Six::load(problem.columns.data() + 6 * c), F);
}

}  // namespace stiction::contact
