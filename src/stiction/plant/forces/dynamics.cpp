#include "stiction/plant/forces/dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stiction/math/small_matrix.hpp"

namespace stiction::plant {
namespace {

using contact::ContactProblem;
using math::dot_pairwise;
using math::SquareMatrix;
using math::Vec3;

Vec3 load(const double* p) { return {p[0], p[1], p[2]}; }

void store(const Vec3& v, double* p) {
  for (int i = 0; i < 3; ++i) p[i] = v[i];
}

/// Returns R v, where R is the rotation from a body's frame to the world frame.
Vec3 rotate(const mjData* d, int body, const Vec3& v) {
  const mjtNum* R = d->xmat + 9 * body;
  return {dot_pairwise(load(R), v), dot_pairwise(load(R + 3), v), dot_pairwise(load(R + 6), v)};
}

/// Returns R^T v.
Vec3 rotate_back(const mjData* d, int body, const Vec3& v) {
  const mjtNum* R = d->xmat + 9 * body;
  return {dot_pairwise({R[0], R[3], R[6]}, v), dot_pairwise({R[1], R[4], R[7]}, v),
          dot_pairwise({R[2], R[5], R[8]}, v)};
}

/// Returns the block of MuJoCo's sparse M of a tree with n dofs.
template <int n>
SquareMatrix<n> make_inertia(const mjModel* m, const mjData* d, const Model::Block& block) {
  SquareMatrix<n> M;
  for (int i = 0; i < n; ++i) {
    const int row = block.dof_start + i;
    for (int k = m->M_rowadr[row]; k < m->M_rowadr[row] + m->M_rownnz[row]; ++k) {
      const int j = m->M_colind[k] - block.dof_start;
      M(i, j) = M(j, i) = d->M[k];
    }
  }
  return M;
}

SquareMatrix<3> get_block(const SquareMatrix<6>& A, int row, int column) {
  SquareMatrix<3> out;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) out(i, j) = A(row + i, column + j);
  return out;
}

void set_block(const SquareMatrix<3>& block, int row, int column, SquareMatrix<6>* A) {
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i) (*A)(row + i, column + j) = block(i, j);
}

/// Returns the matrix [r]x of the cross product.
SquareMatrix<3> make_cross_matrix(const Vec3& r) {
  return {{0, r.z, -r.y, -r.z, 0, r.x, r.y, -r.x, 0}};
}

/// Computes the derivative of the gyroscopic moment w x I w with respect to w.
/// @param armature size 3, no part of the moving inertia
SquareMatrix<3> calc_moment_derivative(SquareMatrix<3> I, const double* armature, const Vec3& w) {
  for (int i = 0; i < 3; ++i) I(i, i) -= armature[i];
  Vec3 momentum;
  multiply(I, &w.x, &momentum.x);
  return make_cross_matrix(w) * I - make_cross_matrix(momentum);
}

/// Computes the derivative of a free body's Coriolis and gyroscopic force c with respect to its
/// velocity u:
///   c = [w x I w; w x (w x s)],
/// where I is the moment of inertia about the body's origin and s = m r_com, both from M_u.
SquareMatrix<6> calc_gyroscopic_derivative(const SquareMatrix<6>& M_u, const double* armature_w,
                                           const Vec3& w) {
  const SquareMatrix<3> S = get_block(M_u, 0, 3);  // [s]x
  const Vec3 s{S(2, 1), S(0, 2), S(1, 0)};
  const double ws = dot_pairwise(w, s);
  SquareMatrix<6> G;
  set_block(calc_moment_derivative(get_block(M_u, 0, 0), armature_w, w), 0, 0, &G);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      G(3 + i, j) = w[i] * s[j] + ws * (i == j ? 1.0 : 0.0) - 2 * s[i] * w[j];
  return G;
}

/// Converts a 6 x 6 block from MuJoCo's free-joint dofs [v; w_B] to u = [w_W; v].
/// @param rotation from the body's frame to the world frame, by rows
SquareMatrix<6> rotate_free_block(const SquareMatrix<6>& A, const mjtNum* rotation) {
  SquareMatrix<3> R_T;
  std::copy_n(rotation, 9, R_T.entries);
  const SquareMatrix<3> R = transpose(R_T), cross = R * get_block(A, 3, 0);
  SquareMatrix<6> out;
  set_block(R * get_block(A, 3, 3) * R_T, 0, 0, &out);
  set_block(cross, 0, 3, &out);
  set_block(transpose(cross), 3, 0, &out);
  set_block(get_block(A, 0, 0), 3, 3, &out);
  return out;
}

/// True if no rotation changes the inertia, as for a sphere or a cube about its center.
bool is_isotropic(const SquareMatrix<6>& A) {
  const double moment = A(3, 3);
  const auto near = [&](double other) { return std::abs(other - moment) <= 1e-12 * moment; };
  if (!near(A(4, 4)) || !near(A(5, 5))) return false;
  if (A(4, 3) != 0 || A(5, 3) != 0 || A(5, 4) != 0) return false;
  const SquareMatrix<3> coupling = get_block(A, 3, 0);
  return std::all_of(std::begin(coupling.entries), std::end(coupling.entries),
                     [](double x) { return x == 0; });
}

/// Sets p to A (A + dt C)^-1 p, so that A (v* - v0) = p is the step with a force that has the
/// derivative C at the end of the step. A itself stays symmetric.
/// @param p size n
template <int n>
void make_implicit(const SquareMatrix<n>& A, const SquareMatrix<n>& C, double dt, double* p) {
  double change[n];
  std::copy_n(p, n, change);
  solve_lu(A + dt * C, change);
  multiply(A, change, p);
}

/// Converts A, v0 and the free impulse p of a free body from MuJoCo's dofs to u. The gyroscopic
/// force of a spinning asymmetric body is also implicit. An explicit one would add energy without
/// bound.
void transform_free_body(const mjModel* m, const mjData* d, const Model::Block& block, int index,
                         ContactProblem* problem) {
  // Puts the angular half of six numbers before the linear one.
  const auto convert = [&](double* x) {
    const Vec3 linear = load(x), angular = load(x + 3);
    store(rotate(d, block.body, angular), x);
    store(linear, x + 3);
  };
  double* const v0 = problem->v0.data() + block.solver_start;
  double* const p = problem->free_impulse.data() + block.solver_start;
  double* const inertia = problem->inertia.data() + block.solver_start;
  convert(v0);
  convert(p);
  std::swap_ranges(inertia, inertia + 3, inertia + 3);
  SquareMatrix<6> A;
  std::copy_n(problem->diagonal(index), 36, A.entries);
  const auto write = [&] { std::copy_n(A.entries, 36, problem->diagonal(index)); };
  if (is_isotropic(A)) {
    const SquareMatrix<3> mass = get_block(A, 0, 0), moment = get_block(A, 3, 3);
    set_block(moment, 0, 0, &A);
    set_block(mass, 3, 3, &A);
    return write();
  }
  const mjtNum* const R = d->xmat + 9 * block.body;
  A = rotate_free_block(A, R);
  write();
  const SquareMatrix<6> M_u = rotate_free_block(make_inertia<6>(m, d, block), R);
  for (int i = 0; i < 6; ++i) inertia[i] = M_u(i, i);
  make_implicit(A, calc_gyroscopic_derivative(M_u, m->dof_armature + block.dof_start + 3, load(v0)),
                problem->time_step, p);
}

/// True if a block is a single body on a ball joint that is fixed to the world. Its dofs are the
/// angular velocity in the body's frame.
bool is_ball_pendulum(const mjModel* m, const Model::Block& block) {
  const int dof = block.dof_start;
  return block.num_dofs == 3 && m->jnt_type[m->dof_jntid[dof]] == mjJNT_BALL &&
         m->tree_dofnum[m->dof_treeid[dof]] == 3;
}

/// Makes the gyroscopic moment w x I w of a ball pendulum implicit, as that of a free body.
void make_gyroscopic_moment_implicit(const mjModel* m, const mjData* d, const Model::Block& block,
                                     int index, ContactProblem* problem) {
  SquareMatrix<3> A;
  std::copy_n(problem->diagonal(index), 9, A.entries);
  make_implicit(
      A,
      calc_moment_derivative(make_inertia<3>(m, d, block), m->dof_armature + block.dof_start,
                             load(d->qvel + block.dof_start)),
      problem->time_step, problem->free_impulse.data() + block.solver_start);
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
    store(rotate_back(d, block.body, load(from)), to + 3);
    std::copy_n(from + 3, 3, to);
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
    store(rotate(d, block.body, load(from + 3)), to);
    std::copy_n(from, 3, to + 3);
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
    double j[6] = {};
    for (; i < dofs.size() && plant.block_of_dof(dofs[i]) == b; ++i)
      j[dofs[i] - block.dof_start] = values[i];
    const Vec3 w = rotate(d, block.body, load(j + 3));
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
