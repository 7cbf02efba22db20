#include "stiction/sim/integrators/viscous_motion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "stiction/certificate/certificate_fields.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/plant/solution/write_back.hpp"
#include "stiction/sim/integrators/viscous_forces.hpp"
#include "stiction/sim/options/ignored_settings.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/step/certificate_failure.hpp"

namespace stiction::sim {
namespace {

constexpr const char* kNeedsSmoothForces =
    "has dry friction (frictionloss), but 'rk4' needs smooth forces; use damping instead, or the "
    "integrator 'event_driven'";

/// Returns the solver's options. The positions of rows are accelerations here, so they are
/// corrected fully.
formulations::SolverOptions make_row_options(const StepOptions& options) {
  formulations::SolverOptions result = make_solver_options(options);
  result.parameters.gap_correction = 1;
  result.parameters.max_correction_speed = 1e100;
  return result;
}

/// True if an island is solved and no conflict was relaxed.
bool is_exact(const contact::IslandStatistics& island) {
  return is_solved(island) && !island.has_conflict;
}

}  // namespace

ViscousMotion::ViscousMotion(const mjModel* m, const StepOptions& options,
                             const plant::MaterialTable& materials)
    : speculative_(m, options.contact_model, options.parameters, materials),
      impact_solver_(formulations::make_contact_solver(options.contact_model)),
      acceleration_solver_(formulations::make_contact_solver(options.contact_model)),
      left_out_(m->ngeom, 0) {
  refuse_dry_friction(m, kNeedsSmoothForces);
  no_implicit_forces_.clear(m->nv);
}

void ViscousMotion::start(StepContext& context, mjData* d) {
  find_positions(context, d);
  if (!context.failed()) sustained_.record_start(d);
}

bool ViscousMotion::follow(StepContext& context, mjData* d, double reach) {
  find_positions(context, d);
  return !context.failed() && sustained_.are_followed(context.stage, d, context.mocap, reach);
}

/// Computes kinematics, contacts, constraint rows and velocities.
void ViscousMotion::find_positions(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  context.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    speculative_.collide(m, d, context.mocap, left_out_);
  });
  if (context.failed()) return;
  if (m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) d->ncon = 0;
  // A contact whose distance is not finite would be ignored like a distant one.
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
  if (!sustained_.choose_touching(m, d, context.mocap)) return true;
  assemble(context, d, Level::impact, 0);
  if (context.failed()) return false;
  if (!solve(context, Level::impact)) {
    blame_mocap_bodies(context, d, contacts_, &is_exact);
    return false;
  }
  if (!certify(context, Level::impact, 1)) return false;
  check_momentum(context, d, Level::impact, 1);
  if (context.failed()) return false;
  plant::to_mujoco_dofs(d, context.plant, contacts_.solution.v.data(), d->qvel);
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
  sustained_.choose_sustained(m, d, context.mocap, reach);
  assemble(context, d, Level::acceleration, reach);
  if (context.failed() || !solve(context, Level::acceleration)) return false;
  // The reach of the first stage is 0, so its errors do not enter the report.
  if (!certify(context, Level::acceleration, reach)) return false;
  check_momentum(context, d, Level::acceleration, duration);
  if (context.failed()) return false;
  plant::to_mujoco_dofs(d, context.plant, contacts_.solution.v.data(), qacc);
  return std::all_of(qacc, qacc + m->nv, [](double a) { return std::isfinite(a); });
}

/// Assembles the problem of accelerations, or of velocities at an impact, with A = M and a time
/// step of 1.
void ViscousMotion::assemble(StepContext& context, mjData* d, Level level, double reach) {
  const plant::Model& plant = context.plant;
  const bool is_impact = level == Level::impact;
  contact::ContactProblem* const problem = &contacts_.problem;
  // Inertia, contacts and rows.
  problem->clear(0);
  plant::add_blocks(context.stage, d, plant, no_implicit_forces_, &rank_one_terms_, problem);
  problem->time_step = 1;
  v_.assign(problem->v0.begin(), problem->v0.end());
  plant::add_contacts(context.stage, d, plant, context.materials,
                      {.acts = sustained_.acts(), .mocap = &context.mocap}, problem);
  constraint_rows_.add_rows(context.stage, d, plant, {}, context.mocap, problem);
  sustained_.choose_rows(d, level, reach, problem);
  // Forces: smooth and viscous forces give accelerations; no force acts in an impact.
  if (is_impact) {
    std::fill(problem->free_impulse.begin(), problem->free_impulse.end(), 0.0);
  } else {
    std::fill(problem->v0.begin(), problem->v0.end(), 0.0);
    plant::to_solver_dofs(d, plant, d->qfrc_smooth, problem->free_impulse.data());
    add_viscous_forces(v_, problem, &viscous_.forces);
  }
  // The contacts' own terms.
  viscous_.coefficients.clear();
  surface_velocities_.clear();
  for (contact::Contact& c : problem->contacts) {
    viscous_.coefficients.push_back(c.law.viscous_friction);
    surface_velocities_.push_back(c.bias);
    c.phi0 = c.fn0 = 0;
    c.law.viscous_friction = 0;
    c.spin_bias = 0;
    c.bias = {0, 0, is_impact ? c.bias[2] : sustained_.bias(c.source)};
    if (!is_impact) c.law.restitution = 0;
  }
  derive(context, &contacts_);
}

/// Solves the problem.
/// @return false if there is no solution
bool ViscousMotion::solve(StepContext& context, Level level) {
  formulations::ContactSolver& solver =
      level == Level::impact ? *impact_solver_ : *acceleration_solver_;
  solver.solve(contacts_.problem, contacts_.islands, make_row_options(context.options), {}, nullptr,
               &contacts_.solution);
  write_statistics(contacts_.problem, contacts_.solution, &context.report);
  const std::vector<contact::IslandStatistics>& islands = contacts_.solution.islands;
  return std::all_of(islands.begin(), islands.end(), is_exact);
}

/// Returns the power of the contacts and rows at the present velocities [W].
double ViscousMotion::calc_power() const {
  const std::span<const double> force = contacts_.certifier.constraint_impulse();
  return std::inner_product(v_.begin(), v_.end(), force.begin(), 0.0);
}

/// Certifies the solution.
/// @param scale time over which accelerations change velocities [s]; 1 for velocities
/// @return false if the solution fails its certificate
bool ViscousMotion::certify(StepContext& context, Level level, double scale) {
  certificate::Certificate certificate = certify_solution(
      context, make_row_options(context.options), &contacts_, level == Level::impact);
  if (!certificate.ok) return false;
  certificate::scale_to_velocities(scale, &certificate);
  if (level == Level::acceleration) certificate.energy_gain = scale * calc_power();
  certificate::keep_worst(certificate, &context.report.certificate);
  return true;
}

/// Checks the momentum residual with MuJoCo's matrices. The step fails if the two disagree.
/// @param duration time over which forces act [s]; 1 for impulses
void ViscousMotion::check_momentum(StepContext& context, mjData* d, Level level, double duration) {
  plant::write_row_forces(d, contacts_.problem, contacts_.solution);
  plant::MomentumCheck::Result momentum;
  context.call_mujoco(d, [&] {
    momentum = level == Level::impact
                   ? sim::check_momentum(context, d, no_implicit_forces_, &contacts_)
                   : check_acceleration_momentum(context, d, viscous_.coefficients, &contacts_);
  });
  const certificate::Verdict agreement = report_momentum(context, momentum, duration);
  if (!agreement.ok()) fail_certificate(context, agreement.failed());
}

void ViscousMotion::write_back(StepContext& context, mjData* d, double duration) {
  contact::ContactSolution& solution = contacts_.solution;
  for (std::size_t i = 0; i < v_.size(); ++i) solution.v[i] += v_[i];
  // In the problem viscous friction is a smooth force. In MuJoCo's data it is a contact's force.
  for (std::size_t i = 0; i < viscous_.forces.size(); ++i)
    for (int t = 0; t < 2; ++t) solution.impulses[i][t] = viscous_.forces[i][t];
  if (!sim::write_back(context, d, contacts_)) return;
  context.call_mujoco(d, [&] { mj_mulM(context.stage, d, d->qfrc_constraint, d->qacc); });
  for (int i = 0; i < context.stage->nv; ++i) d->qfrc_constraint[i] -= d->qfrc_smooth[i];
  for (const contact::BodyPair& pair : contacts_.problem.pairs) {
    const math::Six V = contact::calc_pair_velocity(contacts_.problem, pair, v_);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      contact::Contact& c = contacts_.problem.contacts[i];
      c.bias = surface_velocities_[i];
      solution.contact_velocities[i] = contact::calc_contact_velocity(c, V);
      solution.impulses[i][2] *= duration;
      for (int t = 0; t < 2; ++t) solution.impulses[i][t] = duration * viscous_.forces[i][t];
    }
  }
  write_contacts(context.model, d, contacts_.problem, solution, &context.report.contacts);
}

void ViscousMotion::complete_rows(StepContext& context, mjData* d) {
  sim::complete_rows(context, d, contacts_.problem, &contact_jacobian_);
}

}  // namespace stiction::sim
