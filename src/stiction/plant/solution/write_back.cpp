#include "stiction/plant/solution/write_back.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <type_traits>

#include "stiction/contact/jacobian.hpp"
#include "stiction/math/scalar_functions.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/rows/contact_rows.hpp"

namespace stiction::plant {
namespace {

/// Returns the number of rows of a contact in efc_force.
int count_rows(const mjContact& con, bool is_pyramidal) {
  return con.dim == 1 ? 1 : is_pyramidal ? 2 * (con.dim - 1) : con.dim;
}

/// True if any component of an impulse acts. Under `no_slip` a contact may hold by friction alone,
/// so its impulse has no normal part.
bool acts(const std::array<double, 6>& impulse) {
  return std::any_of(impulse.begin(), impulse.end(), [](double x) { return x != 0; });
}

/// True if a contact gets rows. As in MuJoCo, a contact that is still in its gap after the step has
/// none. A patch always has some.
/// @param impulse of a point; only that of a point contact matters
bool has_rows(const mjContact& con, const std::array<double, 6>& impulse) {
  return takes_part(con) || is_patch(con) || acts(impulse);
}

/// The solution of a contact of MuJoCo. A patch counts as one contact.
struct SolvedContact {
  std::array<double, 6> impulse;
  double friction;              // coefficient of sliding friction [-]
  bool slips;                   // friction is at its bound
  std::array<double, 3> point;  // at which the force acts [m]
};

/// Sums the impulses of the points of a patch to the impulse of one contact. The patch slips if all
/// points that press slip.
SolvedContact sum_patch(const mjContact& con, const contact::ContactProblem& problem,
                        const contact::BodyPair& pair, const contact::ContactSolution& solution) {
  double force[3] = {}, moment[3] = {};
  bool slips = true;
  for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
    const contact::Contact& c = problem.contacts[i];
    const auto& gamma = solution.impulses[i];
    double f[3], r[3], m[3];
    for (int k = 0; k < 3; ++k) {
      f[k] = c.R_WC[k] * gamma[0] + c.R_WC[3 + k] * gamma[1] + c.R_WC[6 + k] * gamma[2];
      r[k] = pair.origin[k] + c.offset[k] - con.pos[k];
    }
    mju_cross(m, r, f);
    mju_addTo3(force, f);
    mju_addTo3(moment, m);
    slips = slips && (gamma[2] == 0 || solution.slipping[i]);
  }
  const mjtNum *n = con.frame, *t1 = n + 3, *t2 = n + 6;
  return {.impulse = {mju_dot3(t1, force), mju_dot3(t2, force), mju_dot3(n, force),
                      mju_dot3(n, moment), mju_dot3(t1, moment), mju_dot3(t2, moment)},
          .friction = problem.contacts[pair.first_contact].friction[0],
          .slips = slips,
          .point = {con.pos[0], con.pos[1], con.pos[2]}};
}

/// Calls f(pair, i, con) for each contact of MuJoCo, where i is its first point in the problem.
template <class F>
void for_each_contact(mjData* d, const contact::ContactProblem& problem, F&& f) {
  for (const contact::BodyPair& pair : problem.pairs) {
    const bool is_patch = problem.contacts[pair.first_contact].face >= 0;
    const int end = pair.first_contact + (is_patch ? 1 : pair.num_contacts);
    for (int i = pair.first_contact; i < end; ++i)
      f(pair, i, &d->contact[problem.contacts[i].source]);
  }
}

/// Returns the solution of a contact.
/// @param i its first point in the problem
SolvedContact find_solved(const mjContact& con, const contact::ContactProblem& problem,
                          const contact::BodyPair& pair, int i,
                          const contact::ContactSolution& solution) {
  const contact::Contact& c = problem.contacts[i];
  if (c.face >= 0) return sum_patch(con, problem, pair, solution);
  SolvedContact solved{.impulse = solution.impulses[i],
                       .friction = c.friction[0],
                       .slips = solution.slipping[i] != 0,
                       .point = pair.origin};
  for (int k = 0; k < 3; ++k) solved.point[k] += c.offset[k];
  return solved;
}

/// Appends `num_new` rows to MuJoCo's own.
/// @return false if the arena is too small
bool add_rows(const mjModel* m, mjData* d, int num_new) {
  const std::size_t old_size = d->nefc, new_size = old_size + num_new;
  int** const int_arrays[] = {&d->efc_type,     &d->efc_id,         &d->efc_J_rownnz,
                              &d->efc_J_rowadr, &d->efc_J_rowsuper, &d->efc_state};
  mjtNum** const num_arrays[] = {&d->efc_pos, &d->efc_margin, &d->efc_frictionloss, &d->efc_diagA,
                                 &d->efc_D,   &d->efc_R,      &d->efc_vel,          &d->efc_aref,
                                 &d->efc_b,   &d->efc_force};
  // One piece of memory for all, the numbers first.
  constexpr std::size_t kBytesPerRow =
      (std::size(num_arrays) + 4) * sizeof(mjtNum) + std::size(int_arrays) * sizeof(int);
  void* memory = allocate_in_arena(d, new_size * kBytesPerRow, alignof(mjtNum));
  if (!memory) return false;
  std::memset(memory, 0, new_size * kBytesPerRow);
  const auto move = [&](auto** array, std::size_t width) {
    auto* const larger = static_cast<std::remove_reference_t<decltype(*array)>>(memory);
    std::copy_n(*array, *array ? width * old_size : 0, larger);
    memory = larger + width * new_size;
    *array = larger;
  };
  for (mjtNum** array : num_arrays) move(array, 1);
  move(&d->efc_KBIP, 4);
  for (int** array : int_arrays) move(array, 1);
  // A dense Jacobian has nv entries per row. The new rows are 0, so that products stay valid.
  if (!mj_isSparse(m)) {
    if (!grow_in_arena(d, &d->efc_J, old_size * m->nv, new_size * m->nv)) return false;
    if (!grow_in_arena(d, &d->efc_J_colind, old_size * m->nv, new_size * m->nv)) return false;
    d->nJ = static_cast<int>(new_size * m->nv);
  }
  if (m->ntendon > 0 && !d->tendon_efcadr) {
    if (!grow_in_arena(d, &d->tendon_efcadr, 0, m->ntendon)) return false;
    std::fill_n(d->tendon_efcadr, m->ntendon, -1);
  }
  d->nefc = static_cast<int>(new_size);
  d->maxuse_efc = std::max(d->maxuse_efc, d->nefc);
  return true;
}

/// Writes the forces of a contact's rows in MuJoCo's order: normal, tangents, torsion, rolling.
/// @return their type
int write_forces(const mjContact& con, bool is_pyramidal, double dt,
                 const std::array<double, 6>& impulse, mjtNum* force) {
  constexpr int kSlip[5] = {0, 1, 3, 4, 5};
  const double normal = impulse[2] / dt;
  if (con.dim == 1 || !is_pyramidal) {
    force[0] = normal;
    for (int i = 0; i < con.dim - 1; ++i) force[1 + i] = impulse[kSlip[i]] / dt;
    return con.dim == 1 ? mjCNSTR_CONTACT_FRICTIONLESS : mjCNSTR_CONTACT_ELLIPTIC;
  }
  // The forces along the pyramid's edges n +- mu_i t_i add up to the contact force.
  const double share = normal / (con.dim - 1);
  for (int i = 0; i < con.dim - 1; ++i) {
    const double lateral = impulse[kSlip[i]] / dt / con.friction[i];
    force[2 * i] = 0.5 * (share + lateral);
    force[2 * i + 1] = 0.5 * (share - lateral);
  }
  return mjCNSTR_CONTACT_PYRAMIDAL;
}

/// Returns the state of a row of a contact. MuJoCo gives all rows of an elliptic contact the same
/// state, and each edge of a pyramid its own.
int find_contact_state(int type, double row_force, bool contact_acts, bool slips) {
  if (!(type == mjCNSTR_CONTACT_PYRAMIDAL ? row_force != 0 : contact_acts))
    return mjCNSTRSTATE_SATISFIED;
  return type == mjCNSTR_CONTACT_ELLIPTIC && slips ? mjCNSTRSTATE_CONE : mjCNSTRSTATE_QUADRATIC;
}

/// Writes the rows of a contact.
/// @param index index in data->contact
/// @param row   first row of the contact
void write_contact(mjData* d, int index, int row, bool is_pyramidal, double dt,
                   const SolvedContact& solved) {
  const mjContact& con = d->contact[index];
  const int type = write_forces(con, is_pyramidal, dt, solved.impulse, d->efc_force + row);
  const bool contact_acts = acts(solved.impulse);
  for (int i = row; i < row + count_rows(con, is_pyramidal); ++i) {
    d->efc_type[i] = type;
    d->efc_id[i] = index;
    d->efc_state[i] = find_contact_state(type, d->efc_force[i], contact_acts, solved.slips);
    d->efc_pos[i] = con.dist;
    d->efc_margin[i] = con.includemargin;
  }
}

/// Clears the fields of a contact that MuJoCo's solver sets, for contacts with rows only.
void clear_solver_fields(mjContact* con) {
  con->mu = 0;
  std::fill(std::begin(con->H), std::end(con->H), 0.0);
}

/// Writes the rows of all contacts after MuJoCo's own rows.
/// @return false if the arena is too small
bool write_contacts(const mjModel* m, mjData* d, const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution) {
  const bool is_pyramidal = mj_isPyramidal(m);
  for (int i = 0; i < d->ncon; ++i) clear_solver_fields(&d->contact[i]);
  int num_new = 0;
  for_each_contact(d, problem, [&](const contact::BodyPair&, int i, const mjContact* con) {
    if (has_rows(*con, solution.impulses[i])) num_new += count_rows(*con, is_pyramidal);
  });
  if (num_new == 0) return true;
  int row = d->nefc;
  if (!add_rows(m, d, num_new)) return false;
  for_each_contact(d, problem, [&](const contact::BodyPair& pair, int i, mjContact* con) {
    if (!has_rows(*con, solution.impulses[i])) return;
    const SolvedContact solved = find_solved(*con, problem, pair, i, solution);
    con->efc_address = row;
    mark(kTakesPart, con);
    con->mu = solved.friction;
    // MuJoCo's point is halfway between the surfaces. The force acts where the two springs meet,
    // and MuJoCo computes torques from con->pos.
    std::copy(solved.point.begin(), solved.point.end(), con->pos);
    write_contact(d, problem.contacts[i].source, row, is_pyramidal, problem.time_step, solved);
    row += count_rows(*con, is_pyramidal);
  });
  return true;
}

/// Returns the state of a row of an equality, limit or dry friction, as MuJoCo's solver reports it.
/// @param slip_share the share of its bound at which dry friction slips
int find_row_state(const mjData* d, int row, double slip_share) {
  const double force = d->efc_force[row];
  if (d->efc_type[row] == mjCNSTR_EQUALITY) return mjCNSTRSTATE_QUADRATIC;
  if (row >= limit_rows(d).begin)  // a limit
    return force > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
  const double bound = slip_share * d->efc_frictionloss[row];
  return force > bound    ? mjCNSTRSTATE_LINEARNEG
         : force < -bound ? mjCNSTRSTATE_LINEARPOS
                          : mjCNSTRSTATE_QUADRATIC;
}

/// Clears the structure of a dense Jacobian. MuJoCo allocates these arrays and does not write them.
void clear_dense_structure(mjData* d) {
  for (int* array : {d->efc_J_rownnz, d->efc_J_rowadr, d->efc_J_rowsuper})
    std::fill_n(array, array ? d->nefc : 0, 0);
  std::fill_n(d->efc_J_colind, d->efc_J_colind ? d->nJ : 0, 0);
}

}  // namespace

void write_row_forces(mjData* d, const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution) {
  std::fill_n(d->efc_force, d->nefc, 0.0);
  double slip_share = 0.99;  // Regularized friction never reaches its bound.
  for (int i = 0; i < problem.num_rows(); ++i) {
    const int source = problem.rows[i].source;
    if (source < 0) continue;
    if (problem.rows[i].kind == contact::RowKind::kDrySpring) slip_share = 1 - 1e-12;
    d->efc_force[source] = solution.row_impulses[i] / problem.time_step;
  }
  // The problem has no rows whose Jacobian is zero. Their force is 0, and they have a state as
  // well.
  for (int row = 0; row < limit_rows(d).end; ++row)
    d->efc_state[row] = find_row_state(d, row, slip_share);
}

void remove_rows(const mjModel* m, mjData* d) {
  int num_kept = 0;
  for (int i = 0; i < d->ncon; ++i) {
    if (is_speculative(d->contact[i])) continue;
    mjContact& kept = d->contact[num_kept++];
    kept = d->contact[i];
    kept.efc_address = -1;
    clear_solver_fields(&kept);
  }
  d->ncon = num_kept;
  d->ne = d->nf = d->nl = d->nefc = d->nJ = 0;
  if (d->tendon_efcadr) std::fill_n(d->tendon_efcadr, m->ntendon, -1);
}

bool write_back(const mjModel* m, mjData* d, const Model& plant,
                const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                std::span<const double> constraint_impulse) {
  const double dt = problem.time_step;
  to_mujoco_dofs(d, plant, solution.v.data(), d->qacc);
  to_mujoco_dofs(d, plant, constraint_impulse.data(), d->qfrc_constraint);
  for (const Model::DofRange& range : plant.awake_dofs()) {
    for (int i = range.begin; i < range.end; ++i) d->qacc[i] = (d->qacc[i] - d->qvel[i]) / dt;
    for (int i = range.begin; i < range.end; ++i) d->qfrc_constraint[i] /= dt;
  }
  write_row_forces(d, problem, solution);
  std::fill_n(d->efc_b, d->nefc, 0.0);
  if (!write_contacts(m, d, problem, solution)) return false;
  if (!mj_isSparse(m)) clear_dense_structure(d);
  return true;
}

void read_mujoco_solution(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                          contact::ContactSolution* solution) {
  const int n = problem.num_contacts();
  solution->impulses.resize(n);
  solution->contact_velocities.resize(n);
  solution->slipping.resize(n);
  solution->islands.clear();
  for (const contact::BodyPair& pair : problem.pairs) {
    const math::Six V = contact::calc_pair_velocity(problem, pair, problem.v0);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem.contacts[i];
      mjtNum force[6];  // along normal and tangents, then torques about these axes
      mj_contactForce(m, d, c.source, force);
      const double dt = problem.time_step;
      solution->impulses[i] = {dt * force[1], dt * force[2], dt * force[0],
                               dt * force[3], dt * force[4], dt * force[5]};
      solution->contact_velocities[i] = contact::calc_contact_velocity(c, V);
      // MuJoCo has no slip tolerance. A contact slips if its friction is within 1e-6 of the bound.
      const double friction = math::hypot(force[1], force[2]);
      solution->slipping[i] = friction > 0 && friction >= (1 - 1e-6) * c.friction[0] * force[0];
    }
  }
}

}  // namespace stiction::plant
