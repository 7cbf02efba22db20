#pragma once

#include <array>
#include <span>

#include "stiction/base/assert.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/six.hpp"

/// Products with the Jacobians of body pairs and rows, for solvers and the simulator. The
/// certificate has its own in certificate/plain_kinematics.hpp. Internal, because of its SIMD
/// types.
namespace stiction::contact {

/// Calls f(dof within the block, column of six numbers) for each dof of a segment's Jacobian.
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

/// Returns J v of a segment.
/// @param v velocities of the segment's block
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

/// Adds J^T F of a segment to f.
/// @param F wrench impulse [torque; force] at the pair's origin [N m s, N s]
/// @param f generalized impulses of the segment's block
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

/// Returns V = J v, the motion of a pair.
/// @param v velocities of the problem, size num_dofs
inline math::Six calc_pair_velocity(const ContactProblem& problem, const BodyPair& pair,
                                    std::span<const double> v) {
  STICTION_ASSERT(static_cast<int>(v.size()) == problem.num_dofs());
  math::Six V = math::Six::zero();
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    V += calc_segment_velocity(problem, segment, v.data() + problem.dof_start[segment.block]);
  }
  return V;
}

/// Adds J^T F of a pair to f.
/// @param F wrench impulse [torque; force] at the pair's origin [N m s, N s]
/// @param f generalized impulses of the problem, size num_dofs
inline void add_pair_force(const ContactProblem& problem, const BodyPair& pair, const math::Six& F,
                           std::span<double> f) {
  STICTION_ASSERT(static_cast<int>(f.size()) == problem.num_dofs());
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    add_segment_force(problem, segment, F, f.data() + problem.dof_start[segment.block]);
  }
}

/// Returns v_c = [v_t1, v_t2, v_n] of a contact for the motion V of its pair [m/s].
inline std::array<double, 3> calc_contact_velocity(const Contact& c, const math::Six& V) {
  const math::Six V_p = math::shift_velocity(V, c.offset.data());
  std::array<double, 3> v_c;
  for (int e = 0; e < 3; ++e) {
    const double* axis = c.R_WC.data() + 3 * e;
    v_c[e] = axis[0] * V_p[3] + axis[1] * V_p[4] + axis[2] * V_p[5] + c.bias[e];
  }
  return v_c;
}

/// Returns the wrench impulse [torque; force] of a contact's impulse about the pair's origin.
/// @param gamma [t1, t2, n] in the contact frame [N s]
inline math::Six calc_contact_wrench(const Contact& c, const std::array<double, 3>& gamma) {
  double F[6] = {};
  for (int i = 0; i < 3; ++i)
    F[3 + i] = c.R_WC[i] * gamma[0] + c.R_WC[3 + i] * gamma[1] + c.R_WC[6 + i] * gamma[2];
  return math::shift_wrench(math::Six::load(F), c.offset.data());
}

/// Returns v_r = J v + b of a scalar row.
/// @param v velocities of the problem, size num_dofs
inline double calc_row_velocity(const ContactProblem& problem, const Row& row,
                                std::span<const double> v) {
  STICTION_ASSERT(static_cast<int>(v.size()) == problem.num_dofs());
  double v_r = 0;
  for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
    v_r += problem.row_columns[c] * v[problem.row_dof[c]];
  return v_r + row.bias;
}

}  // namespace stiction::contact
