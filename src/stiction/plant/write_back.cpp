#include "stiction/plant/write_back.hpp"

#include <algorithm>
#include <cstring>

#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/dynamics.hpp"
#include "stiction/plant/mujoco_contact.hpp"

namespace stiction::plant {
namespace {

/// Allocates memory in the data's arena, as MuJoCo does for arrays of one step.
/// @return null if the arena is too small
void* allocate_in_arena(mjData* d, std::size_t bytes, std::size_t alignment) {
  const std::size_t begin = (d->parena + alignment - 1) / alignment * alignment;
  if (begin + bytes > static_cast<std::size_t>(d->narena) - d->pstack) return nullptr;
  d->parena = begin + bytes;
  d->maxuse_arena = std::max<mjtSize>(d->maxuse_arena, static_cast<mjtSize>(d->parena));
  return static_cast<char*>(d->arena) + begin;
}

/// Copies an array of `old_size` elements to a larger one and sets the new elements to 0.
/// @return false if the arena is too small
template <class T>
bool grow(mjData* d, T** array, std::size_t old_size, std::size_t new_size) {
  T* larger = static_cast<T*>(allocate_in_arena(d, new_size * sizeof(T), alignof(T)));
  if (!larger) return false;
  std::copy_n(*array, *array ? old_size : 0, larger);
  const std::size_t kept = *array ? old_size : 0;
  std::memset(static_cast<void*>(larger + kept), 0, (new_size - kept) * sizeof(T));
  *array = larger;
  return true;
}

/// Returns the number of rows of a contact in efc_force.
int count_rows(const mjContact& con, bool is_pyramidal) {
  return con.dim == 1 ? 1 : is_pyramidal ? 2 * (con.dim - 1) : con.dim;
}

/// True if a contact gets rows. As in MuJoCo, a contact that is still in its gap after the step has
/// none.
bool has_rows(const mjContact& con, const std::array<double, 6>& impulse) {
  return con.exclude == kTakesPart || con.exclude == kPatch || impulse[2] > 0;
}

/// Sums the impulses of the points of a patch to the impulse of one contact.
std::array<double, 6> sum_patch(const mjContact& con, const contact::ContactProblem& problem,
                                const contact::BodyPair& pair,
                                const contact::ContactSolution& solution) {
  double force[3] = {}, moment[3] = {};
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
  }
  const mjtNum *n = con.frame, *t1 = n + 3, *t2 = n + 6;
  return {mju_dot3(t1, force), mju_dot3(t2, force),  mju_dot3(n, force),
          mju_dot3(n, moment), mju_dot3(t1, moment), mju_dot3(t2, moment)};
}

/// Calls f(index in data->contact, impulse) for each contact. A patch counts as one contact.
template <class F>
void for_each_contact(const mjData* d, const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution, F&& f) {
  for (const contact::BodyPair& pair : problem.pairs) {
    const contact::Contact& first = problem.contacts[pair.first_contact];
    if (first.face >= 0) {
      f(first.source, sum_patch(d->contact[first.source], problem, pair, solution));
      continue;
    }
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
      f(problem.contacts[i].source, solution.impulses[i]);
  }
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
  for (int** array : int_arrays)
    if (!grow(d, array, old_size, new_size)) return false;
  for (mjtNum** array : num_arrays)
    if (!grow(d, array, old_size, new_size)) return false;
  if (!grow(d, &d->efc_KBIP, 4 * old_size, 4 * new_size)) return false;
  // A dense Jacobian has nv entries per row. The new rows are 0, so that products stay valid.
  if (!mj_isSparse(m)) {
    if (!grow(d, &d->efc_J, old_size * m->nv, new_size * m->nv)) return false;
    d->nJ = static_cast<int>(new_size * m->nv);
  }
  if (m->ntendon > 0 && !d->tendon_efcadr) {
    if (!grow(d, &d->tendon_efcadr, 0, m->ntendon)) return false;
    std::fill_n(d->tendon_efcadr, m->ntendon, -1);
  }
  d->nefc = static_cast<int>(new_size);
  d->maxuse_efc = std::max(d->maxuse_efc, d->nefc);
  return true;
}

/// Writes a contact's force in MuJoCo's order: normal, tangents, torsion, rolling.
/// @param index index in data->contact
/// @param row   first row of the contact
void write_contact(mjData* d, int index, int row, bool is_pyramidal, double dt,
                   const std::array<double, 6>& impulse) {
  const mjContact& con = d->contact[index];
  const int num_rows = count_rows(con, is_pyramidal);
  const double normal = impulse[2] / dt;
  const double slip[5] = {impulse[0] / dt, impulse[1] / dt, impulse[3] / dt, impulse[4] / dt,
                          impulse[5] / dt};
  mjtNum* force = d->efc_force + row;
  int type = mjCNSTR_CONTACT_ELLIPTIC;
  if (con.dim == 1) {
    type = mjCNSTR_CONTACT_FRICTIONLESS;
    force[0] = normal;
  } else if (is_pyramidal) {
    // The forces along the pyramid's edges n +- mu_i t_i add up to the contact force.
    type = mjCNSTR_CONTACT_PYRAMIDAL;
    for (int i = 0; i < con.dim - 1; ++i) {
      const double share = normal / (con.dim - 1);
      const double lateral = slip[i] / con.friction[i];
      force[2 * i] = 0.5 * (share + lateral);
      force[2 * i + 1] = 0.5 * (share - lateral);
    }
  } else {
    force[0] = normal;
    std::copy_n(slip, con.dim - 1, force + 1);
  }
  for (int i = row; i < row + num_rows; ++i) {
    d->efc_type[i] = type;
    d->efc_id[i] = index;
    d->efc_state[i] = normal > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
    d->efc_pos[i] = con.dist;
    d->efc_margin[i] = con.includemargin;
  }
}

/// Writes the rows of all contacts after MuJoCo's own rows.
/// @return false if the arena is too small
bool write_contacts(const mjModel* m, mjData* d, const contact::ContactProblem& problem,
                    const contact::ContactSolution& solution) {
  const bool is_pyramidal = mj_isPyramidal(m);
  int num_new = 0;
  for_each_contact(d, problem, solution, [&](int source, const std::array<double, 6>& impulse) {
    const mjContact& con = d->contact[source];
    if (has_rows(con, impulse)) num_new += count_rows(con, is_pyramidal);
  });
  if (num_new == 0) return true;
  int row = d->nefc;
  if (!add_rows(m, d, num_new)) return false;
  for_each_contact(d, problem, solution, [&](int source, const std::array<double, 6>& impulse) {
    mjContact& con = d->contact[source];
    if (!has_rows(con, impulse)) return;
    con.efc_address = row;
    con.exclude = kTakesPart;
    write_contact(d, source, row, is_pyramidal, problem.time_step, impulse);
    row += count_rows(con, is_pyramidal);
  });
  return true;
}

/// Returns the state of a row of an equality, limit or dry friction, as MuJoCo's solver reports it.
int find_row_state(const mjData* d, int row) {
  const double force = d->efc_force[row];
  if (d->efc_type[row] == mjCNSTR_EQUALITY) return mjCNSTRSTATE_QUADRATIC;
  if (row >= limit_rows(d).begin)  // a limit
    return force > 0 ? mjCNSTRSTATE_QUADRATIC : mjCNSTRSTATE_SATISFIED;
  // Dry friction slips if its force is at least 99 % of its bound; otherwise it sticks.
  const double bound = 0.99 * d->efc_frictionloss[row];
  return force > bound    ? mjCNSTRSTATE_LINEARNEG
         : force < -bound ? mjCNSTRSTATE_LINEARPOS
                          : mjCNSTRSTATE_QUADRATIC;
}

}  // namespace

void write_row_forces(mjData* d, const contact::ContactProblem& problem,
                      const contact::ContactSolution& solution) {
  std::fill_n(d->efc_force, d->nefc, 0.0);
  for (int i = 0; i < problem.num_rows(); ++i) {
    const int source = problem.rows[i].source;
    if (source < 0) continue;
    d->efc_force[source] = solution.row_impulses[i] / problem.time_step;
    d->efc_state[source] = find_row_state(d, source);
  }
}

bool write_back(const mjModel* m, mjData* d, const Model& plant,
                const contact::ContactProblem& problem, const contact::ContactSolution& solution,
                std::span<const double> constraint_impulse) {
  const double dt = problem.time_step;
  to_mujoco_dofs(d, plant, solution.v.data(), d->qacc);
  for (int i = 0; i < m->nv; ++i) d->qacc[i] = (d->qacc[i] - d->qvel[i]) / dt;
  to_mujoco_dofs(d, plant, constraint_impulse.data(), d->qfrc_constraint);
  for (int i = 0; i < m->nv; ++i) d->qfrc_constraint[i] /= dt;
  write_row_forces(d, problem, solution);
  std::fill_n(d->efc_b, d->nefc, 0.0);
  return write_contacts(m, d, problem, solution);
}

}  // namespace stiction::plant
