#include "stiction/sim/viscous_motion.hpp"

#include <algorithm>
#include <cmath>

#include "stiction/base/error.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/contact/rigid_touch.hpp"
#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/dynamics.hpp"
#include "stiction/plant/mujoco_contact.hpp"
#include "stiction/plant/write_back.hpp"
#include "stiction/sim/report_writer.hpp"

namespace stiction::sim {
namespace {

constexpr double kTouching = contact::kTouchDistance;
constexpr double kRestSpeed = 1e-6;  // slower contacts neither close nor open [m/s, rad/s]
// Faster equalities are left by an integration that does not follow them [m/s, rad/s].
constexpr double kOpeningSpeed = 1e-5;

bool is_excluded(const mjContact& con) {
  return con.exclude != plant::kTakesPart && !plant::is_in_gap(con);
}

/// J-dot v of a constraint row, from MuJoCo's reference acceleration -B v_r - K I r - J-dot v.
double calc_row_bias(const mjData* d, int row) {
  const mjtNum* kbip = d->efc_KBIP + 4 * row;
  const double r = d->efc_pos[row] - d->efc_margin[row];
  return -(d->efc_aref[row] + kbip[1] * d->efc_vel[row] + kbip[0] * kbip[2] * r);
}

bool is_limit(const mjData* d, int row) {
  return d->efc_type[row] == mjCNSTR_LIMIT_JOINT || d->efc_type[row] == mjCNSTR_LIMIT_TENDON;
}

/// The largest of what equality rows have of a quantity.
double calc_equality_error(const mjtNum* of_rows, const mjData* d) {
  double error = 0;
  for (int row = 0; row < d->ne; ++row) error = std::max(error, std::abs(of_rows[row]));
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
  touching_.clear();
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || plant::calc_gap(con) > kTouching) continue;
    const std::array<int, 2> geoms{con.geom[0], con.geom[1]};
    if (touching_.empty() || touching_.back().geoms != geoms) touching_.push_back({geoms, 0});
    touching_.back().depth = std::max(touching_.back().depth, -plant::calc_gap(con));
  }
  equality_error_ = calc_equality_error(d->efc_pos, d);
  limit_depth_ = 0;
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    limit_depth_ = std::max(limit_depth_, d->efc_margin[row] - d->efc_pos[row]);
}

bool ViscousMotion::follow(StepContext& context, mjData* d, double duration) {
  find_positions(context, d);
  if (context.failed()) return false;
  gap_acceleration_.calc_bodies(context.stage, d);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con)) continue;
    const Touching* touching = find_touching(con);
    double allowed = kTouching;
    // A stage goes straight on where the end of the step will have followed the surface.
    if (touching && plant::calc_gap(con) < 0)
      allowed += touching->depth + 0.5 * duration * duration *
                                       std::abs(gap_acceleration_.calc(context.stage, d, con));
    if (plant::calc_gap(con) < -allowed) return false;
  }
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    if (d->efc_pos[row] - d->efc_margin[row] < -kTouching - limit_depth_) return false;
  // Stages go straight on from equalities that are curved; the end of a part is back on them, but
  // where a loop is so near to a singular position that no acceleration holds it.
  return duration > 0 || (calc_equality_error(d->efc_pos, d) <= equality_error_ + kTouching &&
                          calc_equality_error(d->efc_vel, d) <= kOpeningSpeed);
}

const ViscousMotion::Touching* ViscousMotion::find_touching(const mjContact& con) const {
  for (const Touching& t : touching_)
    if (t.geoms[0] == con.geom[0] && t.geoms[1] == con.geom[1]) return &t;
  return nullptr;
}

/// Kinematics, contacts, constraint rows and velocities.
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
  for (int i = 0; i < d->ncon; ++i)  // which would be left out as if it were far
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
  assemble(context, d, true, 0);
  if (context.failed() || !solve(context, 1)) return false;
  plant::to_mujoco_dofs(d, context.plant, solution_.v.data(), d->qvel);
  context.call_mujoco(d, [&] { mj_fwdVelocity(m, d); });
  return !context.failed();
}

bool ViscousMotion::calc_acceleration(StepContext& context, mjData* d, double duration,
                                      double* qacc) {
  const mjModel* model = context.model;
  const mjModel* m = context.stage;
  context.call_mujoco(d, [&] {
    if (mjcb_control && !(model->opt.disableflags & mjDSBL_ACTUATION)) mjcb_control(model, d);
    mj_fwdActuation(m, d);
    mj_fwdAcceleration(m, d);
  });
  if (context.failed()) return false;
  choose_sustained(m, d, duration);
  assemble(context, d, false, duration);
  if (context.failed() || !solve(context, duration)) return false;
  plant::to_mujoco_dofs(d, context.plant, solution_.v.data(), qacc);
  return std::all_of(qacc, qacc + m->nv, [](double a) { return std::isfinite(a); });
}

/// Contacts of what touched at the start that are closed, as near as a stage may tell.
void ViscousMotion::choose_sustained(const mjModel* m, const mjData* d, double duration) {
  gap_acceleration_.calc_bodies(m, d);
  velocities_.calc(m, d, d->qvel);
  acts_.assign(d->ncon, 0);
  bias_.assign(d->ncon, 0.0);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || !find_touching(con)) continue;
    bias_[i] = gap_acceleration_.calc(m, d, con);
    const double way = 0.5 * duration * duration * std::abs(bias_[i]);
    const double speed = duration * std::abs(bias_[i]);
    acts_[i] = plant::calc_gap(con) <= kTouching + way &&
               std::abs(velocities_.calc_at_contact(m, d, con).normal) <= kRestSpeed + speed;
  }
}

/// The problem of accelerations, or of velocities at an impact: A = M, and a step of 1.
void ViscousMotion::assemble(StepContext& context, mjData* d, bool is_impact, double duration) {
  const plant::Model& plant = context.plant;
  problem_.clear(0);
  plant::add_blocks(context.stage, d, plant, no_implicit_forces_, &problem_);
  problem_.time_step = 1;
  v_.assign(problem_.v0.begin(), problem_.v0.end());
  plant::add_contacts(context.stage, d, plant, context.materials, acts_, &problem_);
  constraint_rows_.add_rows(context.stage, d, plant, {}, &problem_);
  keep_rows(d, is_impact, duration);
  viscous_.assign(problem_.num_contacts(), {});
  if (!is_impact) {
    std::fill(problem_.v0.begin(), problem_.v0.end(), 0.0);
    plant::to_solver_dofs(d, plant, d->qfrc_smooth, problem_.free_impulse.data());
    add_viscous_forces();
  } else {
    std::fill(problem_.free_impulse.begin(), problem_.free_impulse.end(), 0.0);
  }
  for (contact::Contact& c : problem_.contacts) {
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

/// Equalities, and of limits those that are closed; both with J-dot v, or 0, for their position.
void ViscousMotion::keep_rows(const mjData* d, bool is_impact, double duration) {
  const auto is_left_out = [&](const contact::Row& row) {
    if (row.kind == contact::RowKind::kFriction) return true;
    if (!is_limit(d, row.source)) return false;
    const double gap = d->efc_pos[row.source] - d->efc_margin[row.source];
    const double speed = std::abs(calc_row_bias(d, row.source)) * duration;
    if (gap > kTouching + 0.5 * duration * speed) return true;
    return !is_impact && std::abs(d->efc_vel[row.source]) > kRestSpeed + speed;
  };
  std::erase_if(problem_.rows, is_left_out);
  for (contact::Row& row : problem_.rows)
    row.position = is_impact ? 0 : calc_row_bias(d, row.source);
}

/// - V (S v + b) of what is sustained.
void ViscousMotion::add_viscous_forces() {
  for (const contact::BodyPair& pair : problem_.pairs) {
    const math::Six V = contact::calc_pair_velocity(problem_, pair, v_);
    math::Six F = math::Six::zero();
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem_.contacts[i];
      const std::array<double, 3> v = contact::calc_contact_velocity(c, V);
      for (int t = 0; t < 2; ++t) viscous_[i][t] = -c.law.viscous_friction * v[t];
      F += contact::calc_contact_wrench(c, viscous_[i]);
    }
    contact::add_pair_force(problem_, pair, F, problem_.free_impulse);
  }
}

/// @param scale of the certificate: what its errors may make of velocities
bool ViscousMotion::solve(StepContext& context, double scale) {
  formulations::SolverOptions options;
  options.parameters = context.options.parameters;
  options.relative_tolerance = context.options.tolerance;
  // Rows have their positions met at once, which are accelerations here.
  options.parameters.gap_correction = 1;
  options.parameters.max_correction_speed = 1e100;
  formulations::ContactSolver& solver = scale == 1 ? *impact_solver_ : *solver_;
  solver.solve(problem_, islands_, options, {}, nullptr, &solution_);
  write_statistics(problem_, solution_, &context.report);
  for (const contact::IslandStatistics& island : solution_.islands)
    if (island.has_conflict || (island.status != contact::SolveStatus::kConverged &&
                                island.status != contact::SolveStatus::kStagnated))
      return false;
  certificate::Certificate certificate = certifier_.certify(
      problem_, &momentum_factor_, islands_, context.options.contact_model, options.parameters,
      context.options.tolerance, options.absolute_tolerance, solution_);
  if (!certificate.ok) return false;
  for (double* error : {&certificate.error_bound, &certificate.velocity_bound,
                        &certificate.impulse_error, &certificate.min_normal_impulse,
                        &certificate.complementarity, &certificate.constraint_error})
    *error *= scale;
  certificate.complementarity_work *= scale * scale;
  certificate.energy_gain = 0;
  keep_worst(certificate, &context.report.certificate);
  return true;
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
      for (int t = 0; t < 2; ++t) solution_.impulses[i][t] = duration * viscous_[i][t];
    }
  }
  write_contacts(context.model, d, problem_, solution_, &context.report.contacts);
}

}  // namespace stiction::sim
