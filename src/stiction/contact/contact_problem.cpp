#include "stiction/contact/contact_problem.hpp"

#include <cmath>
#include <numbers>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/dense_kernels.hpp"

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

/// J A^-1 J^T of one segment [1/kg, ...]: Y = L^-1 J^T, then Y^T Y.
Matrix6 calc_segment_delassus(const ContactProblem& problem, const Segment& segment) {
  const int n = problem.tree_size(segment.tree);
  const double* L = problem.A_factor.data() + problem.block_start[segment.tree];
  const double* inv_diagonal = problem.inv_diagonal.data() + problem.dof_start[segment.tree];
  Matrix6 W = Matrix6::Zero();
  thread_local std::vector<double> y;
  y.resize(6 * n);
  // Rows of J as right-hand sides; entries before the first dof that moves the pair stay zero.
  std::fill(y.begin(), y.end(), 0.0);
  int first = n;
  for_each_column(problem, segment, [&](int dof, const double* column) {
    for (int r = 0; r < 6; ++r) y[r * n + dof] = column[r];
    first = std::min(first, dof);
  });
  for (int r = 0; r < 6; ++r)
    math::solve_lower(n - first, L + first * (n + 1), n, inv_diagonal + first,
                      y.data() + r * n + first);
  const Eigen::Map<const Eigen::MatrixXd> Y(y.data(), n, 6);
  W.noalias() = Y.transpose() * Y;
  return W;
}

}  // namespace

void ContactProblem::clear(double dt) {
  time_step = dt;
  dof_start.assign(1, 0);
  block_start.assign(1, 0);
  A.clear();
  v0.clear();
  v_star.clear();
  pairs.clear();
  segments.clear();
  column_dof.clear();
  columns.clear();
  contacts.clear();
  rows.clear();
  row_dof.clear();
  row_columns.clear();
}

int ContactProblem::add_tree(int n) {
  dof_start.push_back(dof_start.back() + n);
  block_start.push_back(block_start.back() + n * n);
  A.resize(block_start.back(), 0.0);
  v0.resize(dof_start.back(), 0.0);
  v_star.resize(dof_start.back(), 0.0);
  return num_trees() - 1;
}

int calc_derived(double near_rigid_factor, ContactProblem* problem) {
  if (const int tree = factor_trees(problem); tree >= 0) return tree;

  const double resolved_frequency =
      2 * std::numbers::pi / (near_rigid_factor * problem->time_step);  // [rad/s]
  problem->delassus.resize(problem->num_contacts());
  for (const BodyPair& pair : problem->pairs) {
    Matrix6 W = Matrix6::Zero();
    for (int s = 0; s < pair.num_segments; ++s)
      W += calc_segment_delassus(*problem, problem->segments[pair.first_segment + s]);
    const Matrix3 W_ww = W.topLeftCorner<3, 3>();
    const Matrix3 W_wv = W.topRightCorner<3, 3>();
    const Matrix3 W_vv = W.bottomRightCorner<3, 3>();
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      // At the point, v_p = v - [r] w. The Frobenius norm needs no contact frame.
      Contact& contact = problem->contacts[i];
      const Matrix3 R = math::cross_matrix(Eigen::Map<const Vector3>(contact.offset.data()));
      const Matrix3 RW = R * W_wv;
      const Matrix3 W_point = W_vv - RW - RW.transpose() - R * W_ww * R;
      const double w = W_point.norm() / 3;
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
