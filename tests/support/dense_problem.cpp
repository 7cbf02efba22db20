#include "support/dense_problem.hpp"

#include <cmath>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include "stiction/certificate/reference_laws.hpp"

namespace stiction::support {
namespace {

using contact::ContactProblem;
using contact::Segment;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic>;

MatrixXd make_A(const ContactProblem& problem) {
  MatrixXd A = MatrixXd::Zero(problem.num_dofs(), problem.num_dofs());
  for (int b = 0; b < problem.num_blocks(); ++b) {
    const int n = problem.block_size(b), at = problem.dof_start[b];
    // Only the lower triangle of a diagonal block is defined.
    for (int j = 0; j < n; ++j)
      for (int i = j; i < n; ++i)
        A(at + i, at + j) = A(at + j, at + i) = problem.diagonal(b)[i + j * n];
  }
  for (const contact::Coupling& c : problem.couplings) {
    const int m = problem.block_size(c.row_block), n = problem.block_size(c.column_block);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        const int row = problem.dof_start[c.row_block] + i;
        const int column = problem.dof_start[c.column_block] + j;
        A(row, column) = A(column, row) = problem.A[c.start + i + j * m];
      }
    }
  }
  return A;
}

/// Returns the Jacobian of a pair, with a column [w; v] per dof of the problem.
Jacobian make_pair_jacobian(const ContactProblem& problem, const contact::BodyPair& pair) {
  Jacobian J = Jacobian::Zero(6, problem.num_dofs());
  for (int s = pair.first_segment; s < pair.first_segment + pair.num_segments; ++s) {
    const Segment& segment = problem.segments[s];
    const int dof = problem.dof_start[segment.block];
    if (!segment.is_rigid_body) {
      for (int c = segment.first_column; c < segment.first_column + segment.num_columns; ++c)
        for (int k = 0; k < 6; ++k) J(k, dof + problem.column_dof[c]) += problem.columns[6 * c + k];
      continue;
    }
    for (int k = 0; k < 3; ++k) {
      // The unit angular velocity e_k moves the origin by e_k x r, the unit velocity e_k by e_k.
      const Vector3d moved = Vector3d::Unit(k).cross(Vector3d(segment.offset.data()));
      J(k, dof + k) += segment.sign;
      J.block<3, 1>(3, dof + k) += segment.sign * moved;
      J(3 + k, dof + 3 + k) += segment.sign;
    }
  }
  return J;
}

Jacobian make_contact_jacobian(const contact::Contact& contact, const Jacobian& J_pair) {
  const Matrix3d R = Eigen::Map<const Matrix3d>(contact.R_WC.data());
  const Vector3d r(contact.offset.data());
  Jacobian J(6, J_pair.cols());
  for (Eigen::Index dof = 0; dof < J_pair.cols(); ++dof) {
    const Vector3d w = J_pair.col(dof).head<3>(), v = J_pair.col(dof).tail<3>();
    const Vector3d v_p = v + w.cross(r);
    for (int e = 0; e < 3; ++e) {
      J(e, dof) = R.col(e).dot(v_p);
      J(3 + (e + 1) % 3, dof) = R.col(e).dot(w);  // angular rows are in the order n, t1, t2
    }
  }
  return J;
}

}  // namespace

DenseProblem::DenseProblem(const ContactProblem& problem)
    : A(make_A(problem)), v0(to_vector(problem.v0)) {
  const Eigen::LLT<MatrixXd> llt(A);
  v_star = v0 + llt.solve(to_vector(problem.free_impulse));
  J.resize(problem.num_contacts());
  b.resize(problem.num_contacts());
  delassus.resize(problem.num_contacts());
  for (const contact::BodyPair& pair : problem.pairs) {
    const Jacobian J_pair = make_pair_jacobian(problem, pair);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem.contacts[i];
      J[i] = make_contact_jacobian(c, J_pair);
      b[i] << c.bias[0], c.bias[1], c.bias[2], c.spin_bias, 0, 0;
      const MatrixXd J_t = J[i].topRows<3>().transpose();
      delassus[i] = (J_t.transpose() * llt.solve(J_t)).norm() / 3;
    }
  }
  for (const contact::Row& row : problem.rows) {
    Eigen::RowVectorXd& j = rows.emplace_back(Eigen::RowVectorXd::Zero(problem.num_dofs()));
    for (int c = row.first_column; c < row.first_column + row.num_columns; ++c)
      j[problem.row_dof[c]] += problem.row_columns[c];
  }
}

VectorXd DenseProblem::calc_gradient(const ContactProblem& problem, contact::ContactModel model,
                                     const contact::ModelParameters& parameters, const VectorXd& v,
                                     std::span<const double> normal_bounds) const {
  VectorXd g = A * (v - v_star);
  for (int i = 0; i < problem.num_contacts(); ++i) {
    const Eigen::Matrix<double, 6, 1> now = J[i] * v + b[i], before = J[i] * v0 + b[i];
    certificate::ContactVector v_c;
    Eigen::Map<Eigen::Matrix<double, 6, 1>>(v_c.data()) = now;
    const certificate::ReferenceImpulse law = certificate::calc_reference_impulse(
        model, parameters, problem.contacts[i],
        {.time_step = problem.time_step,
         .w = problem.delassus[i],
         .v_n0 = before[2],
         .given_bound = normal_bounds.empty() ? 0 : normal_bounds[i],
         .lagged_impulse = problem.find_lagged_impulse(i)},
        v_c);
    g -= J[i].transpose() * Eigen::Map<const Eigen::Matrix<double, 6, 1>>(law.gamma.data());
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    g -= rows[i].transpose() * certificate::calc_reference_row_impulse(
                                   problem.rows[i], rows[i] * v + problem.rows[i].bias);
  return g;
}

double DenseProblem::calc_dual_norm(const VectorXd& r) const {
  return std::sqrt(std::max(0.0, r.dot(A.llt().solve(r))));
}

double DenseProblem::calc_norm(const VectorXd& v) const {
  return std::sqrt(std::max(0.0, v.dot(A * v)));
}

}  // namespace stiction::support
