#include "stiction/sim/viscous_motion.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/error.hpp"
#include "stiction/certificate/certificate_fields.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/contact/rigid_touch.hpp"
#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/dynamics.hpp"
#include "stiction/plant/mujoco_contact.hpp"
#include "stiction/plant/write_back.hpp"
#include "stiction/sim/certificate_failure.hpp"
#include "stiction/sim/report_writer.hpp"
#include "stiction/sim/viscous_forces.hpp"

namespace stiction::sim {
namespace {

constexpr double kTouching = contact::kTouchDistance;
constexpr double kRestSpeed = 1e-6;  // slower contacts neither close nor open [m/s, rad/s]
// Equalities that open faster were not followed by the integration [m/s, rad/s].
constexpr double kOpeningSpeed = 1e-5;

bool is_excluded(const mjContact& con) {
  return con.exclude != plant::kTakesPart && !plant::is_in_gap(con);
}

/// Returns J-dot v of a constraint row, from MuJoCo's reference acceleration
/// -B v_r - K I r - J-dot v.
double calc_row_bias(const mjData* d, int row) {
  const mjtNum* kbip = d->efc_KBIP + 4 * row;
  const double r = d->efc_pos[row] - d->efc_margin[row];
  return -(d->efc_aref[row] + kbip[1] * d->efc_vel[row] + kbip[0] * kbip[2] * r);
}

bool is_limit(const mjData* d, int row) {
  return d->efc_type[row] == mjCNSTR_LIMIT_JOINT || d->efc_type[row] == mjCNSTR_LIMIT_TENDON;
}

/// Returns the largest magnitude of a quantity over the equality rows.
/// @param values of all constraint rows
double calc_equality_error(const mjtNum* values, const mjData* d) {
  double error = 0;
  for (int row = 0; row < d->ne; ++row) error = std::max(error, std::abs(values[row]));
  return error;
}

void refuse_dry_friction(const mjModel* m) {
  for (int i = 0; i < m->nv; ++i)
    if (m->dof_frictionloss[i] > 0)
      throw Error(ErrorCode::kUnsupported, plant::describe(m, mjOBJ_JOINT, m->dof_jntid[i]),
                  "has dry friction (frictionloss), whose force is not smooth, as 'rk4' needs it: "
                  "use damping, or the integrator 'event_driven'");
  for (int i = 0; i < m->ntendon; ++i)
    if (m->tendon_frictionloss[i] > 0)
      throw Error(ErrorCode::kUnsupported, plant::describe(m, mjOBJ_TENDON, i),
                  "has dry friction (frictionloss), whose force is not smooth, as 'rk4' needs it: "
                  "use damping, or the integrator 'event_driven'");
}

}  // namespace

ViscousMotion::ViscousMotion(const mjModel* m, const StepOptions& options,
                             const plant::MaterialTable& materials)
    : speculative_(m, options.contact_model, options.parameters, materials),
      impact_solver_(formulations::make_contact_solver(options.contact_model)),
      solver_(formulations::make_contact_solver(options.contact_model)),
      left_out_(m->ngeom, 0) {
  refuse_dry_friction(m);
  no_implicit_forces_.clear(m->nv);
}

void ViscousMotion::start(StepContext& context, mjData* d) {
  find_positions(context, d);
  if (context.failed()) return;
  start_.touching.clear();
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || plant::calc_gap(con) > kTouching) continue;
    const std::array<int, 2> geoms{con.geom[0], con.geom[1]};
    if (start_.touching.empty() || start_.touching.back().geoms != geoms)
      start_.touching.push_back({geoms, 0});
    start_.touching.back().depth = std::max(start_.touching.back().depth, -plant::calc_gap(con));
  }
  start_.equality_error = calc_equality_error(d->efc_pos, d);
  start_.limit_depth = 0;
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    start_.limit_depth = std::max(start_.limit_depth, d->efc_margin[row] - d->efc_pos[row]);
}

bool ViscousMotion::follow(StepContext& context, mjData* d, double reach) {
  find_positions(context, d);
  if (context.failed()) return false;
  gap_acceleration_.calc_bodies(context.stage, d);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con)) continue;
    const Touching* touching = find_touching(con);
    double allowed = kTouching;
    // A stage moves straight on and may enter a curved surface that the end of the step follows.
    if (touching && plant::calc_gap(con) < 0)
      allowed += touching->depth +
                 0.5 * reach * reach * std::abs(gap_acceleration_.calc(context.stage, d, con));
    if (plant::calc_gap(con) < -allowed) return false;
  }
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    if (d->efc_pos[row] - d->efc_margin[row] < -kTouching - start_.limit_depth) return false;
  return true;
}

bool ViscousMotion::holds_equalities(const mjData* d) const {
  return calc_equality_error(d->efc_pos, d) <= start_.equality_error + kTouching &&
         calc_equality_error(d->efc_vel, d) <= kOpeningSpeed;
}

const ViscousMotion::Touching* ViscousMotion::find_touching(const mjContact& con) const {
  for (const Touching& t : start_.touching)
    if (t.geoms[0] == con.geom[0] && t.geoms[1] == con.geom[1]) return &t;
  return nullptr;
}

/// Computes the kinematics, contacts, constraint rows and velocities.
void ViscousMotion::find_positions(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  context.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    speculative_.collide(m, d, context.plant, left_out_);
  });
  if (context.failed()) return;
  if (m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) d->ncon = 0;
  // A distance that is not finite would be left out as if it were large.
  for (int i = 0; i < d->ncon; ++i)
    if (!std::isfinite(d->contact[i].dist))
      return context.fail(
          kNonFiniteSolution,
          "the distance of " + plant::describe(m, mjOBJ_GEOM, d->contact[i].geom[0]) + " and " +
              plant::describe(m, mjOBJ_GEOM, d->contact[i].geom[1]) + " is not finite");
  constraint_rows_.reserve(d);
  context.call_mujoco(d, [&] {
    constraint_rows_.make_constraints(m, d);
    mj_fwdVelocity(m, d);
  });
}

bool ViscousMotion::resolve_impacts(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  acts_.assign(d->ncon, 0);
  velocities_.calc(m, d, d->qvel);
  bool is_any = false;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || plant::calc_gap(con) > kTouching) continue;
    acts_[i] = 1;
    is_any = is_any || velocities_.calc_at_contact(m, d, con).normal < -kRestSpeed;
  }
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    is_any = is_any ||
             (d->efc_pos[row] - d->efc_margin[row] <= kTouching && d->efc_vel[row] < -kRestSpeed);
  is_any = is_any || calc_equality_error(d->efc_vel, d) > kRestSpeed;
  if (!is_any) return true;
  assemble(context, d, Level::impact, 0);
  if (context.failed() || !solve(context, Level::impact) || !certify(context, 1)) return false;
  check_momentum(context, d, Level::impact, 1);
  if (context.failed()) return false;
  plant::to_mujoco_dofs(d, context.plant, solution_.v.data(), d->qvel);
  context.call_mujoco(d, [&] { mj_fwdVelocity(m, d); });
  return !context.failed();
}

bool ViscousMotion::calc_acceleration(StepContext& context, mjData* d, double reach,
                                      double duration, double* qacc) {
  const mjModel* model = context.model;
  const mjModel* m = context.stage;
  context.call_mujoco(d, [&] {
    if (mjcb_control && !(model->opt.disableflags & mjDSBL_ACTUATION)) mjcb_control(model, d);
    mj_fwdActuation(m, d);
    mj_fwdAcceleration(m, d);
  });
  if (context.failed()) return false;
  choose_sustained(m, d, reach);
  assemble(context, d, Level::acceleration, reach);
  if (context.failed() || !solve(context, Level::acceleration)) return false;
  // The first stage has a reach of 0, so its errors count as 0 in the report.
  if (!certify(context, reach)) return false;
  check_momentum(context, d, Level::acceleration, duration);
  if (context.failed()) return false;
  plant::to_mujoco_dofs(d, context.plant, solution_.v.data(), qacc);
  return std::all_of(qacc, qacc + m->nv, [](double a) { return std::isfinite(a); });
}

/// Chooses the sustained contacts, among those of geoms that touched at the start. Both tolerances
/// allow for the distance by which a stage may have left a curved surface.
void ViscousMotion::choose_sustained(const mjModel* m, const mjData* d, double reach) {
  gap_acceleration_.calc_bodies(m, d);
  velocities_.calc(m, d, d->qvel);
  acts_.assign(d->ncon, 0);
  bias_.assign(d->ncon, 0.0);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || !find_touching(con)) continue;
    bias_[i] = gap_acceleration_.calc(m, d, con);
    const double way = 0.5 * reach * reach * std::abs(bias_[i]);
    const double speed = reach * std::abs(bias_[i]);
    acts_[i] = plant::calc_gap(con) <= kTouching + way &&
               std::abs(velocities_.calc_at_contact(m, d, con).normal) <= kRestSpeed + speed;
  }
}

/// Assembles the problem of accelerations, or of the velocities after an impact, with A = M and a
/// time step of 1.
void ViscousMotion::assemble(StepContext& context, mjData* d, Level level, double reach) {
  const plant::Model& plant = context.plant;
  const bool is_impact = level == Level::impact;
  problem_.clear(0);
  plant::add_blocks(context.stage, d, plant, no_implicit_forces_, &problem_);
  problem_.time_step = 1;
  v_.assign(problem_.v0.begin(), problem_.v0.end());
  plant::add_contacts(context.stage, d, plant, context.materials, acts_, &problem_);
  constraint_rows_.add_rows(context.stage, d, plant, {}, &problem_);
  keep_rows(d, level, reach);
  if (!is_impact) {
    std::fill(problem_.v0.begin(), problem_.v0.end(), 0.0);
    plant::to_solver_dofs(d, plant, d->qfrc_smooth, problem_.free_impulse.data());
    add_viscous_forces(v_, &problem_, &viscous_.forces);
  } else {
    std::fill(problem_.free_impulse.begin(), problem_.free_impulse.end(), 0.0);
  }
  viscous_.coefficients.clear();
  for (contact::Contact& c : problem_.contacts) {
    viscous_.coefficients.push_back(c.law.viscous_friction);
    c.phi0 = c.fn0 = 0;
    c.law.viscous_friction = 0;
    c.spin_bias = 0;
    c.bias = {0, 0, is_impact ? 0 : bias_[c.source]};
    if (!is_impact) c.law.restitution = 0;
  }
  if (!momentum_factor_.calc_derived(1, &problem_))
    return context.fail(kNotPositiveDefinite,
                        "the joint-space inertia is not positive definite; give every moving body "
                        "mass, or its joints armature");
  islands_.find(problem_);
}

/// Keeps the equalities and the closed limits. Their position becomes J-dot v, or 0 at an impact.
void ViscousMotion::keep_rows(const mjData* d, Level level, double reach) {
  const bool is_impact = level == Level::impact;
  const auto is_left_out = [&](const contact::Row& row) {
    if (row.kind == contact::RowKind::kFriction) return true;
    if (!is_limit(d, row.source)) return false;
    const double gap = d->efc_pos[row.source] - d->efc_margin[row.source];
    const double speed = std::abs(calc_row_bias(d, row.source)) * reach;
    if (gap > kTouching + 0.5 * reach * speed) return true;
    return !is_impact && std::abs(d->efc_vel[row.source]) > kRestSpeed + speed;
  };
  std::erase_if(problem_.rows, is_left_out);
  for (contact::Row& row : problem_.rows)
    row.position = is_impact ? 0 : calc_row_bias(d, row.source);
}

formulations::SolverOptions ViscousMotion::make_options(const StepContext& context) const {
  formulations::SolverOptions options;
  options.parameters = context.options.parameters;
  options.relative_tolerance = context.options.tolerance;
  // A row's position stands for an acceleration here and is corrected in full.
  options.parameters.gap_correction = 1;
  options.parameters.max_correction_speed = 1e100;
  return options;
}

/// Solves the problem.
/// @return false if no solution was found
bool ViscousMotion::solve(StepContext& context, Level level) {
  formulations::ContactSolver& solver = level == Level::impact ? *impact_solver_ : *solver_;
  solver.solve(problem_, islands_, make_options(context), {}, nullptr, &solution_);
  write_statistics(problem_, solution_, &context.report);
  const auto is_solved = [](const contact::IslandStatistics& island) {
    return !island.has_conflict && (island.status == contact::SolveStatus::kConverged ||
                                    island.status == contact::SolveStatus::kStagnated);
  };
  return std::all_of(solution_.islands.begin(), solution_.islands.end(), is_solved);
}

/// Certifies the solution, and merges the certificate into the report.
/// @param duration time over which the accelerations make velocities [s]; 1 for an impact
/// @return false if the certificate failed
bool ViscousMotion::certify(StepContext& context, double duration) {
  const formulations::SolverOptions options = make_options(context);
  const certificate::SolvedStep step = {.problem = problem_,
                                        .islands = islands_,
                                        .model = context.options.contact_model,
                                        .parameters = options.parameters,
                                        .relative_tolerance = options.relative_tolerance,
                                        .absolute_tolerance = options.absolute_tolerance,
                                        .solution = solution_};
  certificate::Certificate certificate = certifier_.certify(step, &momentum_factor_);
  if (!certificate.ok) return false;
  certificate::scale_to_velocities(duration, &certificate);
  certificate.rigid.energy_gain = 0;  // accelerations have no kinetic energy
  certificate::keep_worst(certificate, &context.report.certificate);
  return true;
}

/// Compares the momentum residual with MuJoCo's matrices; fails the step if they disagree.
/// @param duration time over which the forces act [s]; 1 for an impact
void ViscousMotion::check_momentum(StepContext& context, mjData* d, Level level, double duration) {
  plant::write_row_forces(d, problem_, solution_);
  plant::MomentumCheck::Result momentum;
  context.call_mujoco(d, [&] {
    const plant::MomentumCheck::Input input = {.model = context.stage,
                                               .data = d,
                                               .plant = context.plant,
                                               .problem = problem_,
                                               .solution = solution_,
                                               .imbalance = certifier_.imbalance()};
    momentum = level == Level::impact
                   ? momentum_check_.calc(input, no_implicit_forces_)
                   : momentum_check_.calc_accelerations(input, viscous_.coefficients);
  });
  const certificate::Verdict agreement = report_momentum(context, momentum, duration);
  if (!agreement.ok()) fail_certificate(context, agreement.failed());
}

void ViscousMotion::write_back(StepContext& context, mjData* d, double duration) {
  for (std::size_t i = 0; i < v_.size(); ++i) solution_.v[i] += v_[i];
  if (!plant::write_back(context.stage, d, context.plant, problem_, solution_,
                         certifier_.constraint_impulse()))
    return context.fail(kBufferFull,
                        "the constraint forces do not fit in mjData's arena; enlarge it with <size "
                        "memory=\"...\"/>");
  for (const contact::BodyPair& pair : problem_.pairs) {
    const math::Six V = contact::calc_pair_velocity(problem_, pair, v_);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      contact::Contact& c = problem_.contacts[i];
      c.bias = {};
      solution_.contact_velocities[i] = contact::calc_contact_velocity(c, V);
      solution_.impulses[i][2] *= duration;
      for (int t = 0; t < 2; ++t) solution_.impulses[i][t] = duration * viscous_.forces[i][t];
    }
  }
  write_contacts(context.model, d, problem_, solution_, &context.report.contacts);
}

}  // namespace stiction::sim
