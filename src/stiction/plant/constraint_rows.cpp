#include "stiction/plant/constraint_rows.hpp"

#include <algorithm>

#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/dynamics.hpp"
#include "stiction/plant/mujoco_contact.hpp"

namespace stiction::plant {
namespace {

/// Returns an equality or limit row with its spring and damper.
contact::Row make_spring_row(const mjData* d, int i, double dt, contact::RowKind kind) {
  const mjtNum* kbip = d->efc_KBIP + 4 * i;
  const double r = d->efc_pos[i] - d->efc_margin[i];
  const double stiffness = kbip[0] * kbip[2];  // K I [1/s^2]
  const double denominator = 1 + dt * kbip[1] + dt * dt * stiffness;
  // The acceleration of the row at constant dof velocities, (dJ/dt) v, is part of MuJoCo's
  // reference acceleration -B v_r - K I r - (dJ/dt) v. It gives the centripetal force of a body on
  // a turning arm.
  const double bias = -(d->efc_aref[i] + kbip[1] * d->efc_vel[i] + stiffness * r);
  contact::Row row;
  row.kind = kind;
  row.position = r;
  row.regularization = d->efc_R[i] / denominator;
  row.target = (d->efc_vel[i] - dt * (stiffness * r + bias)) / denominator;
  return row;
}

/// Returns the norm of the error that row i of an equality is a component of. A connect has one
/// vector, and a weld has one of positions and one of rotations. Other equalities are scalars.
double calc_error_norm(const mjModel* m, const mjData* d, int i) {
  const int equality = d->efc_id[i], type = m->eq_type[equality];
  if (type != mjEQ_CONNECT && type != mjEQ_WELD) return 0;
  int first = i;
  while (first > 0 && d->efc_id[first - 1] == equality) --first;
  first += (i - first) / 3 * 3;
  return mju_norm(d->efc_pos + first, std::min(3, limit_rows(d).end - first));
}

/// Returns a dry friction row of a joint or tendon.
contact::Row make_friction_row(const mjData* d, int i, double dt, const RowParameters& parameters) {
  contact::Row row;
  row.kind = contact::RowKind::kFriction;
  row.bound = dt * d->efc_frictionloss[i];
  // efc_diagA is J M^-1 J^T, the row's mobility.
  row.slip_tolerance = std::max(parameters.stiction_tolerance,
                                parameters.friction_regularization * d->efc_diagA[i] * row.bound);
  return row;
}

}  // namespace

void ConstraintRows::make_constraints(const mjModel* m, mjData* d, const SpeculativeLimits* limits,
                                      const Adhesion* adhesion) {
  // MuJoCo makes no row for a contact that is flagged as within its gap. Transmissions of actuators
  // on a body then compute the contact's Jacobian from the geometry instead of reading the row.
  for (int i = 0; i < d->ncon; ++i) {
    exclude_[i] = d->contact[i].exclude;
    if (exclude_[i] == kTakesPart || (adhesion && adhesion->bridges_gap(m, d, i)))
      d->contact[i].exclude = kInGap;
  }
  if (limits) limits->widen(m, &wide_);
  mj_makeConstraint(limits ? &wide_ : m, d);
  // mj_projectConstraint computes the exact diagonal of J M^-1 J^T, and R and D from it.
  if (m->opt.enableflags & mjENBL_DIAGEXACT) mj_projectConstraint(limits ? &wide_ : m, d);
  if (limits) SpeculativeLimits::restore_margins(m, d);
  mj_transmission(m, d);
  for (int i = 0; i < d->ncon; ++i) d->contact[i].exclude = exclude_[i];
}

void ConstraintRows::add_rows(const mjModel* m, const mjData* d, const Model& plant,
                              const RowParameters& parameters, contact::ContactProblem* problem) {
  const double dt = problem->time_step;
  const bool is_sparse = mj_isSparse(m);
  const int num_rows = limit_rows(d).end;
  for (int i = 0; i < num_rows; ++i) {
    contact::Row row;
    switch (d->efc_type[i]) {
      case mjCNSTR_EQUALITY:
        row = make_spring_row(d, i, dt, contact::RowKind::kEquality);
        row.error_norm = calc_error_norm(m, d, i);
        break;
      case mjCNSTR_LIMIT_JOINT:
      case mjCNSTR_LIMIT_TENDON: row = make_spring_row(d, i, dt, contact::RowKind::kLimit); break;
      default: row = make_friction_row(d, i, dt, parameters); break;
    }
    row.source = i;
    if (is_sparse) {
      const int adr = d->efc_J_rowadr[i];
      const auto size = static_cast<std::size_t>(d->efc_J_rownnz[i]);
      add_row_columns(d, plant, {d->efc_J_colind + adr, size}, {d->efc_J + adr, size}, &row,
                      problem);
    } else {
      const mjtNum* J = d->efc_J + static_cast<std::size_t>(i) * m->nv;
      dofs_.clear();
      values_.clear();
      for (int j = 0; j < m->nv; ++j) {
        if (J[j] == 0) continue;
        dofs_.push_back(j);
        values_.push_back(J[j]);
      }
      add_row_columns(d, plant, dofs_, values_, &row, problem);
    }
    if (row.num_columns > 0) problem->rows.push_back(row);
  }
}

}  // namespace stiction::plant
