#include "stiction/plant/forces/dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

/// Returns the rotation from a body's frame to the world frame.
RotationMap rotation(const mjData* d, int body) { return RotationMap(d->xmat + 9 * body); }

/// Returns the block of MuJoCo's sparse M of a tree with n dofs.
template <int n>
Eigen::Matrix<double, n, n> make_inertia(const mjModel* m, const mjData* d,
                                         const Model::Block& block) {
  Eigen::Matrix<double, n, n> M = Eigen::Matrix<double, n, n>::Zero();
  for (int i = 0; i < n; ++i) {
    const int row = block.dof_start + i;
    for (int k = m->M_rowadr[row]; k < m->M_rowadr[row] + m->M_rownnz[row]; ++k) {
      const int j = m->M_colind[k] - block.dof_start;
      M(i, j) = M(j, i) = d->M[k];
    }
  }
  return M;
}

/// Computes the derivative of a free body's Coriolis and gyroscopic force c with respect to its
/// velocity u:
///   c = [w x I w; w x (w x s)],
/// where I is the moment of inertia about the body's origin and s = m r_com, both from M_u.
Matrix6 calc_gyroscopic_derivative(const Matrix6& M_u, const Vector3& armature_w,
                                   const Vector3& w) {
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

/// Converts a 6 x 6 block from MuJoCo's free-joint dofs [v; w_B] to u = [w_W; v].
Matrix6 rotate_free_block(const Matrix6& A, const RotationMap& R) {
  Matrix6 out;
  out.topLeftCorner<3, 3>() = R * A.bottomRightCorner<3, 3>() * R.transpose();
  out.topRightCorner<3, 3>() = R * A.bottomLeftCorner<3, 3>();
  out.bottomLeftCorner<3, 3>() = out.topRightCorner<3, 3>().transpose();
  out.bottomRightCorner<3, 3>() = A.topLeftCorner<3, 3>();
  return out;
}

/// True if no rotation changes the inertia, as for a sphere or a cube about its center.
bool is_isotropic(const Matrix6& A) {
  const double moment = A(3, 3);
  const auto near = [&](double other) { return std::abs(other - moment) <= 1e-12 * moment; };
  if (!near(A(4, 4)) || !near(A(5, 5))) return false;
  return A(4, 3) == 0 && A(5, 3) == 0 && A(5, 4) == 0 &&
         A.bottomLeftCorner<3, 3>() == Matrix3::Zero();
}

/// Converts A, v0 and the free impulse p of a free body from MuJoCo's dofs to u. The gyroscopic
/// force of a spinning asymmetric body is also implicit, (A + dt dc/dv) (v* - v0) = p. An explicit
/// gyroscopic force would add energy without bound. A itself stays symmetric: p is set to
/// A (A + dt dc/dv)^-1 p.
void transform_free_body(const mjModel* m, const mjData* d, const Model::Block& block, int index,
                         ContactProblem* problem) {
  Eigen::Map<Matrix6> A(problem->diagonal(index));
  Eigen::Map<Vector6> v0(problem->v0.data() + block.solver_start);
  Eigen::Map<Vector6> p(problem->free_impulse.data() + block.solver_start);
  const RotationMap R = rotation(d, block.body);
  const Vector6 p_q = p, v_q = v0;
  v0.head<3>() = R * v_q.tail<3>();
  v0.tail<3>() = v_q.head<3>();
  p.head<3>() = R * p_q.tail<3>();
  p.tail<3>() = p_q.head<3>();
  Eigen::Map<Vector6> inertia(problem->inertia.data() + block.solver_start);
  inertia = (Vector6() << inertia.tail<3>(), inertia.head<3>()).finished();
  if (is_isotropic(A)) {
    const Matrix3 moment = A.bottomRightCorner<3, 3>();
    A.bottomRightCorner<3, 3>() = A.topLeftCorner<3, 3>().eval();
    A.topLeftCorner<3, 3>() = moment;
    return;
  }
  A = rotate_free_block(A, R);

  const Eigen::Map<const Vector3> armature(m->dof_armature + block.dof_start + 3);
  const Matrix6 M_u = rotate_free_block(make_inertia<6>(m, d, block), R);
  inertia = M_u.diagonal();
  const Matrix6 G = problem->time_step * calc_gyroscopic_derivative(M_u, armature, v0.head<3>());
  p = A * (A + G).partialPivLu().solve(p);
}

/// True if a block is a single body on a ball joint that is fixed to the world. Its dofs are the
/// angular velocity in the body's frame.
bool is_ball_pendulum(const mjModel* m, const Model::Block& block) {
  const int dof = block.dof_start;
  return block.num_dofs == 3 && m->jnt_type[m->dof_jntid[dof]] == mjJNT_BALL &&
         m->tree_dofnum[m->dof_treeid[dof]] == 3;
}

/// Makes the gyroscopic moment w x I w of a ball pendulum implicit, as that of a free body:
/// (A + dt dc/dw) (v* - v0) = p, and p is set to A (A + dt dc/dw)^-1 p.
void make_gyroscopic_moment_implicit(const mjModel* m, const mjData* d, const Model::Block& block,
                                     int index, ContactProblem* problem) {
  const Eigen::Map<Matrix3> A(problem->diagonal(index));
  const Eigen::Map<const Vector3> w(d->qvel + block.dof_start);
  Eigen::Map<Vector3> p(problem->free_impulse.data() + block.solver_start);
  Matrix3 I = make_inertia<3>(m, d, block);
  I.diagonal() -= Eigen::Map<const Vector3>(m->dof_armature + block.dof_start);
  const Matrix3 G = problem->time_step * (math::cross_matrix(w) * I - math::cross_matrix(I * w));
  p = A * (A + G).partialPivLu().solve(p);
}

}  // namespace

void to_mujoco_dofs(const mjData* d, const Model& plant, const double* u, double* qvel) {
  for (const Model::Block& block : plant.blocks()) {
    const double* from = u + block.solver_start;
    double* to = qvel + block.dof_start;
    if (!block.is_free_body) {
      std::copy_n(from, block.num_dofs, to);
      continue;
    }
    const Eigen::Map<const Vector3> w(from), v(from + 3);
    Eigen::Map<Vector3>(to + 3).noalias() = rotation(d, block.body).transpose() * w;
    for (int i = 0; i < 3; ++i) to[i] = v[i];
  }
}

void to_solver_dofs(const mjData* d, const Model& plant, const double* qvel, double* u) {
  for (const Model::Block& block : plant.blocks()) {
    const double* from = qvel + block.dof_start;
    double* to = u + block.solver_start;
    if (!block.is_free_body) {
      std::copy_n(from, block.num_dofs, to);
      continue;
    }
    const Eigen::Map<const Vector3> v(from), w(from + 3);
    Eigen::Map<Vector3>(to).noalias() = rotation(d, block.body) * w;
    Eigen::Map<Vector3>(to + 3) = v;
  }
}

void add_blocks(const mjModel* m, const mjData* d, const Model& plant,
                const ImplicitForces& implicit, RankOneTerms* terms, ContactProblem* problem) {
  const double dt = problem->time_step;
  const ContactProblem& pattern = plant.pattern();
  problem->dof_start = pattern.dof_start;
  problem->is_rigid_body = pattern.is_rigid_body;
  problem->diagonal_start = pattern.diagonal_start;
  problem->couplings = pattern.couplings;
  problem->A.assign(pattern.A.size(), 0.0);
  problem->inertia.resize(plant.num_dofs());
  problem->v0.resize(plant.num_dofs());
  problem->free_impulse.resize(plant.num_dofs());
  double* A = problem->A.data();

  // Set A to M, add the diagonal terms, and set the free impulse.
  int u = 0;  // the solver's dof
  for (const Model::DofRange& range : plant.awake_dofs()) {
    const int first = m->M_rowadr[range.begin], last = range.end - 1;
    for (int k = first; k < m->M_rowadr[last] + m->M_rownnz[last]; ++k) {
      const Model::Entry entry = plant.inertia_entries()[k];
      A[entry.index] = A[entry.mirror] = d->M[k];
    }
    for (int i = range.begin; i < range.end; ++i, ++u) {
      const double damping = implicit.diagonal_damping()[i];
      const double stiffness = implicit.diagonal_stiffness()[i];
      const Model::Entry diagonal = plant.inertia_entries()[m->M_rowadr[i] + m->M_rownnz[i] - 1];
      problem->inertia[u] = A[diagonal.index];
      A[diagonal.index] += dt * damping + dt * dt * stiffness;
      problem->free_impulse[u] = dt * (d->qfrc_smooth[i] - dt * stiffness * d->qvel[i]);
      problem->v0[u] = d->qvel[i];
    }
  }

  terms->add_within_trees(plant, implicit, problem);
  for (int b = 0; b < plant.num_blocks(); ++b) {
    const Model::Block& block = plant.block(b);
    if (block.is_free_body) transform_free_body(m, d, block, b, problem);
    if (is_ball_pendulum(m, block)) make_gyroscopic_moment_implicit(m, d, block, b, problem);
  }
  terms->add_across(d, plant, implicit, problem);
}

void append_solver_columns(const mjData* d, const Model& plant, std::span<const int> dofs,
                           std::span<const double> values, std::vector<int>* to_dofs,
                           std::vector<double>* to_values) {
  const auto add = [&](int dof, double value) {
    to_dofs->push_back(dof);
    to_values->push_back(value);
  };
  for (std::size_t i = 0; i < dofs.size();) {
    const int b = plant.block_of_dof(dofs[i]);
    const Model::Block& block = plant.block(b);
    if (!block.is_free_body) {
      add(plant.solver_dof(dofs[i]), values[i]);
      ++i;
      continue;
    }
    // Convert all entries of a free body together: j T^T.
    Vector6 j = Vector6::Zero();
    for (; i < dofs.size() && plant.block_of_dof(dofs[i]) == b; ++i)
      j[dofs[i] - block.dof_start] = values[i];
    const Vector3 w = rotation(d, block.body) * j.tail<3>();
    for (int k = 0; k < 3; ++k) add(block.solver_start + k, w[k]);
    for (int k = 0; k < 3; ++k) add(block.solver_start + 3 + k, j[k]);
  }
}

void add_row_columns(const mjData* d, const Model& plant, std::span<const int> dofs,
                     std::span<const double> values, contact::Row* row, ContactProblem* problem) {
  row->first_column = static_cast<int>(problem->row_dof.size());
  append_solver_columns(d, plant, dofs, values, &problem->row_dof, &problem->row_columns);
  row->num_columns = static_cast<int>(problem->row_dof.size()) - row->first_column;
}

void add_coupling_rows(const mjData* d, const Model& plant, const ImplicitForces& implicit,
                       ContactProblem* problem) {
  const double dt = problem->time_step;
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (term.limit < 0) continue;
    // dt f = dt f0 + dt excess - dt^2 k (j v) - dt d (j v - j v0), within the limits. The free
    // impulse already contains dt f0.
    const double scale = dt * term.damping + dt * dt * term.stiffness;
    contact::Row row;
    row.kind = contact::RowKind::kSpring;
    row.regularization = 1 / scale;
    const LimitedServo& limited = implicit.limits().limited()[term.limit];
    row.target = dt * term.damping * term.velocity / scale + dt * limited.excess / scale;
    row.impulse_range = {dt * limited.lower, dt * limited.upper};
    add_row_columns(d, plant, implicit.dofs_of(term), implicit.values_of(term), &row, problem);
    problem->rows.push_back(row);
  }
}

int find_first_coupling_row(const ImplicitForces& implicit, const ContactProblem& problem) {
  return problem.num_rows() -
         static_cast<int>(
             std::count_if(implicit.rank_one().begin(), implicit.rank_one().end(),
                           [](const ImplicitForces::RankOne& term) { return term.limit >= 0; }));
}

void write_servo_forces(const mjModel* m, mjData* d, const Model& plant,
                        const ImplicitForces& implicit, const ContactProblem& problem,
                        const contact::ContactSolution& solution, std::span<double> qvel) {
  if (implicit.limits().limited().empty()) return;
  to_mujoco_dofs(d, plant, solution.v.data(), qvel.data());
  int row = find_first_coupling_row(implicit, problem);
  bool is_any = false;
  for (const ImplicitForces::RankOne& term : implicit.rank_one()) {
    if (term.limit < 0) continue;
    const double impulse = solution.row_impulses[row++];
    implicit.limits().write_force(m, d, implicit.limits().limited()[term.limit],
                                  impulse / problem.time_step, qvel);
    is_any = true;
  }
  if (is_any) mj_solveM(m, d, d->qacc_smooth, d->qfrc_smooth, 1);
}

}  // namespace stiction::plant
