// What every contact model needs beyond the problem's inputs: factors of A, v*, and the mobility of
// each contact.
#include <algorithm>
#include <numbers>

#include <Eigen/LU>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/math/dense_kernels.hpp"
#include "stiction/math/spatial.hpp"

namespace stiction::contact {
namespace {

using math::Matrix3;
using math::Matrix6;
using math::Vector3;

/// Factors every block of A. @return the first tree that is not positive definite, or -1.
int factor_trees(ContactProblem* problem) {
  problem->A_factor.assign(problem->A.begin(), problem->A.end());
  problem->inv_diagonal.resize(problem->num_dofs());
  for (int t = 0; t < problem->num_trees(); ++t) {
    const int n = problem->tree_size(t);
    if (!math::factor_panel(n, n, problem->A_factor.data() + problem->block_start[t], n,
                            problem->inv_diagonal.data() + problem->dof_start[t]))
      return t;
  }
  return -1;
}

void calc_free_motion(ContactProblem* problem) {
  problem->v_star.assign(problem->free_impulse.begin(), problem->free_impulse.end());
  for (int t = 0; t < problem->num_trees(); ++t) {
    const int n = problem->tree_size(t), begin = problem->dof_start[t];
    const double* L = problem->A_factor.data() + problem->block_start[t];
    double* v = problem->v_star.data() + begin;
    math::solve_lower(n, L, n, problem->inv_diagonal.data() + begin, v);
    math::solve_lower_transposed(n, L, n, problem->inv_diagonal.data() + begin, v);
    for (int i = 0; i < n; ++i) v[i] += problem->v0[begin + i];
  }
}

/// How easily a segment moves: J A^-1 J^T at a reference point, in 3 x 3 blocks.
struct Mobility {
  Matrix3 ww, wv, vv;  // [1/(kg m^2)], [1/(kg m)], [1/kg]
  Vector3 offset;      // from the reference point to the pair's origin

  /// Of the velocity of a point r from the pair's origin, v_p = v - [r] w.
  Matrix3 at(const Vector3& r) const {
    const Matrix3 R = math::cross_matrix(offset + r);
    const Matrix3 RW = R * wv;
    return vv - RW - RW.transpose() - R * ww * R;
  }
};

/// Of a rigid body at its own point: the inverse of its A, by Schur complement.
Mobility calc_rigid_mobility(const ContactProblem& problem, const Segment& segment) {
  const Eigen::Map<const Matrix6> A(problem.A.data() + problem.block_start[segment.tree]);
  const Matrix3 b = A.topRightCorner<3, 3>();
  Mobility out;
  out.offset = Eigen::Map<const Vector3>(segment.offset.data());
  out.vv = A.bottomRightCorner<3, 3>().inverse();
  if (b.isZero(0)) {  // the usual case: the point is the center of mass
    out.ww = A.topLeftCorner<3, 3>().inverse();
    out.wv.setZero();
    return out;
  }
  const Matrix3 b_vv = b * out.vv;
  out.ww = (A.topLeftCorner<3, 3>() - b_vv * b.transpose()).inverse();
  out.wv = -out.ww * b_vv;
  out.vv -= b_vv.transpose() * out.wv;
  return out;
}

/// Of a segment with Jacobian columns, at the pair's origin: Y = L^-1 J^T, then Y^T Y.
Mobility calc_column_mobility(const Segment& segment, ContactProblem* problem) {
  const int n = problem->tree_size(segment.tree);
  const double* L = problem->A_factor.data() + problem->block_start[segment.tree];
  const double* inv_diagonal = problem->inv_diagonal.data() + problem->dof_start[segment.tree];
  // Rows of J as right-hand sides; entries before the first dof that moves the pair stay zero.
  problem->scratch.assign(6 * n, 0.0);
  double* y = problem->scratch.data();
  int first = n;
  for_each_column(*problem, segment, [&](int dof, const double* column) {
    for (int r = 0; r < 6; ++r) y[r * n + dof] = column[r];
    first = std::min(first, dof);
  });
  for (int r = 0; r < 6; ++r)
    math::solve_lower(n - first, L + first * (n + 1), n, inv_diagonal + first, y + r * n + first);
  Matrix6 W;
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c <= r; ++c) {
      double sum = 0;
      for (int i = first; i < n; ++i) sum += y[r * n + i] * y[c * n + i];
      W(r, c) = W(c, r) = sum;
    }
  return {W.topLeftCorner<3, 3>(), W.topRightCorner<3, 3>(), W.bottomRightCorner<3, 3>(),
          Vector3::Zero()};
}

}  // namespace

int calc_derived(double near_rigid_factor, ContactProblem* problem) {
  if (const int tree = factor_trees(problem); tree >= 0) return tree;
  calc_free_motion(problem);

  const double resolved_frequency =
      2 * std::numbers::pi / (near_rigid_factor * problem->time_step);  // [rad/s]
  problem->delassus.resize(problem->num_contacts());
  for (const BodyPair& pair : problem->pairs) {
    Mobility mobility[2];
    for (int s = 0; s < pair.num_segments; ++s) {
      const Segment& segment = problem->segments[pair.first_segment + s];
      mobility[s] = segment.is_rigid_body ? calc_rigid_mobility(*problem, segment)
                                          : calc_column_mobility(segment, problem);
    }
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      Contact& contact = problem->contacts[i];
      const Eigen::Map<const Vector3> r(contact.offset.data());
      Matrix3 W = mobility[0].at(r);
      if (pair.num_segments == 2) W += mobility[1].at(r);
      // The Frobenius norm needs no contact frame.
      const double w = W.norm() / 3;
      problem->delassus[i] = w;
      if (contact.stiffness == kInfinity) {
        contact.stiffness = resolved_frequency * resolved_frequency / w;
        contact.fn0 = -contact.stiffness * contact.phi0;
      }
    }
  }
  return -1;
}

}  // namespace stiction::contact
