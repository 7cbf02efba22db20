#include "stiction/plant/dynamics.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/LU>

#include "stiction/math/spatial.hpp"

namespace stiction::plant {
namespace {

using contact::ContactProblem;
using math::Matrix3;
using math::Matrix6;
using math::Vector3;
using math::Vector6;
using RotationMap = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;

RotationMap rotation(const mjData* d, int body) { return RotationMap(d->xmat + 9 * body); }

/// A block of MuJoCo's sparse M as a dense symmetric matrix, column-major.
void copy_inertia(const mjModel* m, const mjData* d, const Model::Tree& tree, double* A) {
  const int n = tree.num_dofs;
  for (int i = 0; i < n; ++i) {
    const int row = tree.dof_start + i;
    const int adr = m->M_rowadr[row];
    for (int k = adr; k < adr + m->M_rownnz[row]; ++k) {
      const int j = m->M_colind[k] - tree.dof_start;
      A[i + j * n] = d->M[k];
      A[j + i * n] = d->M[k];
    }
  }
}

/// dt times the derivative of a free body's Coriolis and gyroscopic force by its velocity, in u, for
/// inertia M_u about the body's origin. With I that inertia and s = m r_com:
///   c = [w x I w; w x (w x s)].
Matrix6 calc_gyroscopic_derivative(const Matrix6& M_u, const Vector3& armature_w, const Vector3& w) {
  Matrix3 I = M_u.topLeftCorner<3, 3>();
  I.diagonal() -= armature_w;
  const Matrix3 S = M_u.topRightCorner<3, 3>();  // [s]x
  const Vector3 s(S(2, 1), S(0, 2), S(1, 0));
  Matrix6 G = Matrix6::Zero();
  G.topLeftCorner<3, 3>() = math::cross_matrix(w) * I - math::cross_matrix(I * w);
  G.bottomLeftCorner<3, 3>() =
      w * s.transpose() + w.dot(s) * Matrix3::Identity() - 2 * s * w.transpose();
  return G;
}

/// A block of 6 in MuJoCo's free-joint dofs [v; w_B] to u = [w_W; v].
Matrix6 rotate_free_block(const Matrix6& A, const RotationMap& R) {
  Matrix6 out;
  out.topLeftCorner<3, 3>() = R * A.bottomRightCorner<3, 3>() * R.transpose();
  out.topRightCorner<3, 3>() = R * A.bottomLeftCorner<3, 3>();
  out.bottomLeftCorner<3, 3>() = out.topRightCorner<3, 3>().transpose();
  out.bottomRightCorner<3, 3>() = A.topLeftCorner<3, 3>();
  return out;
}

/// True for a sphere's or cube's inertia about its center, which no rotation changes.
bool is_isotropic(const Matrix6& A) {
  const double moment = A(3, 3);
  const auto near = [&](double other) { return std::abs(other - moment) <= 1e-12 * moment; };
  if (!near(A(4, 4)) || !near(A(5, 5))) return false;
  return A(4, 3) == 0 && A(5, 3) == 0 && A(5, 4) == 0 &&
         A.bottomLeftCorner<3, 3>() == Matrix3::Zero();
}

/// Free-body trees from MuJoCo's dofs to u: A, v0 and the free impulse p. A spinning asymmetric body
/// takes its gyroscopic force implicitly as well, (A + dt dc/dv) (v* - v0) = p: taken at the start
/// of the step alone, that force adds energy without bound. A itself stays symmetric.
void transform_free_body(const mjModel* m, const mjData* d, const Model::Tree& tree, int t,
                         ContactProblem* problem) {
  Eigen::Map<Matrix6> A(problem->tree_matrix(t));
  Eigen::Map<Vector6> v0(problem->v0.data() + tree.dof_start);
  Eigen::Map<Vector6> p(problem->free_impulse.data() + tree.dof_start);
  const RotationMap R = rotation(d, tree.body);
  const Vector6 p_q = p, v_q = v0;
  v0.head<3>() = R * v_q.tail<3>();
  v0.tail<3>() = v_q.head<3>();
  p.head<3>() = R * p_q.tail<3>();
  p.tail<3>() = p_q.head<3>();
  if (is_isotropic(A)) {
    const Matrix3 moment = A.bottomRightCorner<3, 3>();
    A.bottomRightCorner<3, 3>() = A.topLeftCorner<3, 3>().eval();
    A.topLeftCorner<3, 3>() = moment;
    return;
  }
  A = rotate_free_block(A, R);

  Matrix6 M_q = Matrix6::Zero();
  copy_inertia(m, d, tree, M_q.data());
  const Eigen::Map<const Vector3> armature(m->dof_armature + tree.dof_start + 3);
  const Matrix6 G = problem->time_step *
                    calc_gyroscopic_derivative(rotate_free_block(M_q, R), armature, v0.head<3>());
  p = A * (A + G).partialPivLu().solve(p);
}

}  // namespace

void to_mujoco_dofs(const mjData* d, const Model& plant, const double* u, double* qvel) {
  for (const Model::Tree& tree : plant.trees()) {
    const double* from = u + tree.dof_start;
    double* to = qvel + tree.dof_start;
    if (!tree.is_free_body) {
      std::copy_n(from, tree.num_dofs, to);
      continue;
    }
    const Eigen::Map<const Vector3> w(from), v(from + 3);
    Eigen::Map<Vector3>(to + 3).noalias() = rotation(d, tree.body).transpose() * w;
    std::copy_n(v.data(), 3, to);
  }
}

void to_solver_dofs(const mjData* d, const Model& plant, const double* qvel, double* u) {
  for (const Model::Tree& tree : plant.trees()) {
    const double* from = qvel + tree.dof_start;
    double* to = u + tree.dof_start;
    if (!tree.is_free_body) {
      std::copy_n(from, tree.num_dofs, to);
      continue;
    }
    const Eigen::Map<const Vector3> v(from), w(from + 3);
    Eigen::Map<Vector3>(to).noalias() = rotation(d, tree.body) * w;
    Eigen::Map<Vector3>(to + 3) = v;
  }
}

void add_trees(const mjModel* m, const mjData* d, const Model& plant,
               const ImplicitForces& implicit, ContactProblem* problem) {
  const double dt = problem->time_step;
  for (const Model::Tree& tree : plant.trees()) problem->add_tree(tree.num_dofs);

  double* p = problem->free_impulse.data();
  for (int i = 0; i < m->nv; ++i)
    p[i] = dt * (d->qfrc_smooth[i] - dt * implicit.diagonal_stiffness()[i] * d->qvel[i]);
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (!term.in_one_tree) continue;
    for (int e = term.first; e < term.first + term.size; ++e)
      p[implicit.dof(e)] -= dt * dt * term.stiffness * term.velocity * implicit.value(e);
  }

  // A in MuJoCo's dofs: M, the diagonal terms, and rank-one terms within a tree.
  for (int t = 0; t < plant.num_trees(); ++t) {
    const Model::Tree& tree = plant.trees()[t];
    double* A = problem->tree_matrix(t);
    copy_inertia(m, d, tree, A);
    for (int i = 0; i < tree.num_dofs; ++i) {
      const int dof = tree.dof_start + i;
      A[i * (tree.num_dofs + 1)] +=
          dt * implicit.diagonal_damping()[dof] + dt * dt * implicit.diagonal_stiffness()[dof];
    }
  }
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (!term.in_one_tree) continue;
    const int t = plant.tree_of_dof(implicit.dof(term.first));
    const Model::Tree& tree = plant.trees()[t];
    double* A = problem->tree_matrix(t);
    const double scale = dt * term.damping + dt * dt * term.stiffness;
    for (int i = term.first; i < term.first + term.size; ++i)
      for (int j = term.first; j < term.first + term.size; ++j)
        A[implicit.dof(i) - tree.dof_start +
          (implicit.dof(j) - tree.dof_start) * tree.num_dofs] +=
            scale * implicit.value(i) * implicit.value(j);
  }

  std::copy_n(d->qvel, m->nv, problem->v0.data());
  for (int t = 0; t < plant.num_trees(); ++t)
    if (plant.trees()[t].is_free_body) transform_free_body(m, d, plant.trees()[t], t, problem);
}

void add_row_columns(const mjData* d, const Model& plant, const int* dofs, const double* values,
                     int size, contact::Row* row, ContactProblem* problem) {
  row->first_column = static_cast<int>(problem->row_dof.size());
  const auto add = [&](int dof, double value) {
    problem->row_dof.push_back(dof);
    problem->row_columns.push_back(value);
  };
  for (int i = 0; i < size;) {
    const Model::Tree& tree = plant.trees()[plant.tree_of_dof(dofs[i])];
    if (!tree.is_free_body) {
      add(dofs[i], values[i]);
      ++i;
      continue;
    }
    // All of a free body's entries together: j T^T.
    Vector6 j = Vector6::Zero();
    for (; i < size && plant.tree_of_dof(dofs[i]) == plant.tree_of_dof(tree.dof_start); ++i)
      j[dofs[i] - tree.dof_start] = values[i];
    const Vector3 w = rotation(d, tree.body) * j.tail<3>();
    for (int k = 0; k < 3; ++k) add(tree.dof_start + k, w[k]);
    for (int k = 0; k < 3; ++k) add(tree.dof_start + 3 + k, j[k]);
  }
  row->num_columns = static_cast<int>(problem->row_dof.size()) - row->first_column;
}

void add_coupling_rows(const mjData* d, const Model& plant, const ImplicitForces& implicit,
                       ContactProblem* problem) {
  const double dt = problem->time_step;
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (term.in_one_tree) continue;
    // dt f = dt f0 - dt^2 k (j v) - dt d (j v - j v0), with dt f0 in the free impulse already.
    const double scale = dt * term.damping + dt * dt * term.stiffness;
    contact::Row row;
    row.kind = contact::RowKind::kSpring;
    row.regularization = 1 / scale;
    row.target = dt * term.damping * term.velocity / scale;
    add_row_columns(d, plant, &implicit.dofs()[term.first], &implicit.values()[term.first],
                    term.size, &row, problem);
    problem->rows.push_back(row);
  }
}

}  // namespace stiction::plant
