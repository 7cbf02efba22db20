#include "stiction/plant/rows/constraint_rows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "stiction/math/lanes.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/mocap/mocap_rows.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/plant/rows/limit_rows.hpp"
#include "stiction/plant/rows/row_mobility.hpp"

namespace stiction::plant {
namespace {

/// The least regularization of a row, relative to its mobility. MuJoCo's impedance allows 1e-4 of
/// its own estimate of the mobility, which is 0 for a weld of a body whose center is on its hinge.
/// Such a row would be stiffer than double precision resolves.
constexpr double kLeastRegularization = 1e-8;

/// A mobility that is below MuJoCo's estimate by more than round-off replaces it.
constexpr double kBelow = 1 - 1e-9;

/// Gives a row its mobility in place of MuJoCo's estimate: R = w (1 - I) / I, D = 1 / R.
void set_mobility(double w, mjData* d, int i) {
  const double impedance = d->efc_KBIP[4 * i + 2];
  d->efc_diagA[i] = w;
  d->efc_R[i] = std::max(mjMINVAL, w * (1 - impedance) / impedance);
  d->efc_D[i] = 1 / d->efc_R[i];
}

/// Returns an equality or limit row with its spring and damper.
/// @param driven     velocity that moving mocap bodies give the row
/// @param components the vector that the row is a component of
contact::Row make_spring_row(const mjData* d, int i, double dt, double driven,
                             const RowComponents& components) {
  const mjtNum* kbip = d->efc_KBIP + 4 * i;
  const double r = d->efc_pos[i] - d->efc_margin[i];
  const double stiffness = kbip[0] * kbip[2];  // K I [1/s^2]
  const double denominator = 1 + dt * kbip[1] + dt * dt * stiffness;
  // The acceleration of the row at constant dof velocities, (dJ/dt) v, is part of MuJoCo's
  // reference acceleration -B v_r - K I r - (dJ/dt) v. It gives the centripetal force of a body on
  // a turning arm.
  const double acceleration = -(d->efc_aref[i] + kbip[1] * d->efc_vel[i] + stiffness * r);
  contact::Row row;
  const bool is_equality = d->efc_type[i] == mjCNSTR_EQUALITY;
  row.kind = is_equality ? contact::RowKind::kEquality : contact::RowKind::kLimit;
  row.bias = driven;
  row.position = r;
  if (components.size() > 1)
    row.error_norm = mju_norm(d->efc_pos + components.begin, components.size());
  row.regularization = d->efc_R[i] / denominator;
  // MuJoCo's estimate for the inertia of the reference pose.
  if (is_equality) row.usual_mobility = d->efc_diagA[i];
  row.target = (d->efc_vel[i] + driven - dt * (stiffness * r + acceleration)) / denominator;
  return row;
}

/// Returns a dry friction row of a joint or tendon.
contact::Row make_friction_row(const mjData* d, int i, double dt, double driven,
                               const RowParameters& parameters) {
  contact::Row row;
  row.bias = driven;
  row.kind = contact::RowKind::kFriction;
  row.bound = dt * d->efc_frictionloss[i];
  // efc_diagA is J M^-1 J^T, the row's mobility.
  row.slip_tolerance = std::max(parameters.stiction_tolerance,
                                parameters.friction_regularization * d->efc_diagA[i] * row.bound);
  return row;
}

/// The largest round-off of an entry, relative to the positions that cancel in it: a few hundred
/// units of double precision. Levers that are as short have no meaning in a world of meters.
constexpr double kRoundOff = 1e-13;

}  // namespace

void ConstraintRows::make_constraints(const mjModel* m, mjData* d, const SpeculativeLimits* limits,
                                      const Adhesion* adhesion, const mjtNum* qvel) {
  // MuJoCo makes no row for a contact that is flagged as within its gap. Transmissions of actuators
  // on a body then compute the contact's Jacobian from the geometry instead of reading the row.
  for (int i = 0; i < d->ncon; ++i) {
    mjContact& con = d->contact[i];
    marks_[i] = get_mark(con);
    if (takes_part(con) || (adhesion && adhesion->bridges_gap(m, d, i))) mark(kInGap, &con);
  }
  if (limits) limits->widen(wide_.follow(m));
  const mjModel* const used = limits ? wide_.get() : m;
  mj_makeConstraint(used, d);
  // mj_projectConstraint computes the exact diagonal of J M^-1 J^T, and R and D from it.
  if (m->opt.enableflags & mjENBL_DIAGEXACT) mj_projectConstraint(used, d);
  if (limits) SpeculativeLimits::restore_margins(m, d);
  turn_ball_limits(m, d, qvel ? qvel : d->qvel,
                   limits ? BallLimitRows::all : BallLimitRows::near_zero);
  mj_transmission(m, d);
  for (int i = 0; i < d->ncon; ++i) mark(marks_[i], &d->contact[i]);
}

void ConstraintRows::add_rows(const mjModel* m, mjData* d, const Model& plant,
                              const RowParameters& parameters, const MocapMotion& mocap,
                              contact::ContactProblem* problem) {
  const double dt = problem->time_step;
  const bool is_sparse = mj_isSparse(m);
  const int num_rows = limit_rows(d).end;
  // MuJoCo has computed the exact mobilities itself if the model asks for them.
  const bool corrects = parameters.exact_mobility && !(m->opt.enableflags & mjENBL_DIAGEXACT);
  double mobility = 0;  // mean over the vector that the row is a component of
  for (int i = 0; i < num_rows; ++i) {
    // The nonzeros of the row.
    std::span<const int> dofs;
    std::span<const double> J;
    if (is_sparse) {
      const int adr = d->efc_J_rowadr[i];
      const auto size = static_cast<std::size_t>(d->efc_J_rownnz[i]);
      dofs = {d->efc_J_colind + adr, size};
      J = {d->efc_J + adr, size};
    } else {
      find_nonzeros(m->nv, d->efc_J + static_cast<std::size_t>(i) * m->nv);
      dofs = dofs_;
      J = values_;
    }

    // MuJoCo makes rows between sleeping trees and mocap bodies.
    if (!dofs.empty() && !plant.is_awake(dofs[0])) continue;
    contact::Row row;
    const double driven = mocap.is_any() ? calc_mocap_row_velocity(m, d, mocap, i) : 0;
    if (d->efc_type[i] == mjCNSTR_FRICTION_DOF || d->efc_type[i] == mjCNSTR_FRICTION_TENDON) {
      row = make_friction_row(d, i, dt, driven, parameters);
    } else {
      const RowComponents components = find_components(m, d, i);
      if (i == components.begin) mobility = mobility_.calc_mean(m, d, components);
      if (corrects && mobility > 0 && mobility < kBelow * d->efc_diagA[i])
        set_mobility(mobility, d, i);
      row = make_spring_row(d, i, dt, driven, components);
      row.regularization =
          std::max(row.regularization, kLeastRegularization * components.size() * mobility);
    }
    if (d->efc_type[i] == mjCNSTR_EQUALITY && is_round_off(m, d, d->efc_id[i], J)) continue;
    row.source = i;
    add_row_columns(d, plant, dofs, J, &row, problem);
    if (row.num_columns > 0) problem->rows.push_back(row);
  }
}

/// Finds the nonzeros of a dense row.
void ConstraintRows::find_nonzeros(int nv, const mjtNum* J) {
  dofs_.clear();
  values_.clear();
  const auto add = [&](int j) {
    dofs_.push_back(j);
    values_.push_back(J[j]);
  };
  int j = 0;
  for (; j + math::kNumLanes <= nv; j += math::kNumLanes)  // nearly all are 0
    for (unsigned left = math::true_lanes(math::load<math::Lanes>(J + j) != 0.0); left != 0;
         left &= left - 1)
      add(j + std::countr_zero(left));
  for (; j < nv; ++j)
    if (J[j] != 0) add(j);
}

bool is_round_off(const mjModel* m, const mjData* d, int equality, std::span<const double> J) {
  const int type = m->eq_type[equality];
  if (type != mjEQ_CONNECT && type != mjEQ_WELD) return false;
  const mjtNum* const positions = m->eq_objtype[equality] == mjOBJ_SITE ? d->site_xpos : d->xpos;
  double scale = 1;  // of axes
  for (const int object : {m->eq_obj1id[equality], m->eq_obj2id[equality]})
    scale += mju_norm3(positions + 3 * object);
  return std::all_of(J.begin(), J.end(),
                     [&](double x) { return std::abs(x) <= kRoundOff * scale; });
}

}  // namespace stiction::plant
