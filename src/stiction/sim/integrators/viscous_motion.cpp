#include "stiction/sim/integrators/viscous_motion.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "stiction/certificate/certificate.hpp"
#include "stiction/contact/gaps.hpp"
#include "stiction/contact/jacobian.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/mujoco/contact_marks.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/plant/solution/write_back.hpp"
#include "stiction/sim/options/ignored_settings.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"

namespace stiction::sim {
namespace {

constexpr double kTouching = contact::kTouchDistance;
constexpr double kRestSpeed = 1e-6;  // slower contacts neither close nor open [m/s, rad/s]
// A part that ends with an equality opening faster than this is rejected [m/s, rad/s].
constexpr double kOpeningSpeed = 1e-5;

bool is_excluded(const mjContact& con) { return !plant::takes_part(con) && !plant::is_in_gap(con); }

/// Returns J-dot v of a constraint row, from MuJoCo's reference acceleration -B v_r - K I r - J-dot
/// v.
double calc_row_bias(const mjData* d, int row) {
  const mjtNum* kbip = d->efc_KBIP + 4 * row;
  const double r = d->efc_pos[row] - d->efc_margin[row];
  return -(d->efc_aref[row] + kbip[1] * d->efc_vel[row] + kbip[0] * kbip[2] * r);
}

/// Returns the distance of a row from its limit, < 0 beyond the limit [m, rad].
double limit_gap(const mjData* d, int row) { return d->efc_pos[row] - d->efc_margin[row]; }

/// Returns the largest absolute value of the equality rows in an array of all rows.
double calc_equality_error(const mjtNum* rows, const mjData* d) {
  double error = 0;
  for (int row = 0; row < d->ne; ++row) error = std::max(error, std::abs(rows[row]));
  return error;
}

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

void SustainedContacts::record_start(const mjData* d) {
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
    limit_depth_ = std::max(limit_depth_, -limit_gap(d, row));
}

bool SustainedContacts::are_followed(const StepInputs& in, const mjData* d, double reach) {
  const mjModel* m = in.models.stages();
  gap_acceleration_.calc_bodies(m, d, &in.mocap);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con)) continue;
    const double gap = plant::calc_gap(con);
    const Touching* touching = find_touching(con);
    double allowed = kTouching;
    if (touching && gap < 0)
      allowed +=
          touching->depth + 0.5 * reach * reach * std::abs(gap_acceleration_.calc(m, d, con));
    if (gap < -allowed) return false;
  }
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    if (limit_gap(d, row) < -kTouching - limit_depth_) return false;
  return true;
}

bool SustainedContacts::hold_equalities(const mjData* d) const {
  return calc_equality_error(d->efc_pos, d) <= equality_error_ + kTouching &&
         calc_equality_error(d->efc_vel, d) <= kOpeningSpeed;
}

bool SustainedContacts::choose_touching(const StepInputs& in, const mjData* d) {
  const mjModel* m = in.models.stages();
  acts_.assign(d->ncon, 0);
  velocities_.calc(m, d, d->qvel, &in.mocap);
  bool is_impact = false;
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || plant::calc_gap(con) > kTouching) continue;
    acts_[i] = 1;
    is_impact = is_impact || velocities_.calc_at_contact(m, d, con).normal < -kRestSpeed;
  }
  for (int row = plant::limit_rows(d).begin; row < plant::limit_rows(d).end; ++row)
    is_impact = is_impact || (limit_gap(d, row) <= kTouching && d->efc_vel[row] < -kRestSpeed);
  return is_impact || calc_equality_error(d->efc_vel, d) > kRestSpeed;
}

void SustainedContacts::choose_sustained(const StepInputs& in, const mjData* d, double reach) {
  const mjModel* m = in.models.stages();
  gap_acceleration_.calc_bodies(m, d, &in.mocap);
  velocities_.calc(m, d, d->qvel, &in.mocap);
  acts_.assign(d->ncon, 0);
  bias_.assign(d->ncon, 0.0);
  for (int i = 0; i < d->ncon; ++i) {
    const mjContact& con = d->contact[i];
    if (is_excluded(con) || !find_touching(con)) continue;
    bias_[i] = gap_acceleration_.calc(m, d, con);
    const double distance = 0.5 * reach * reach * std::abs(bias_[i]);
    const double speed = reach * std::abs(bias_[i]);
    acts_[i] = plant::calc_gap(con) <= kTouching + distance &&
               std::abs(velocities_.calc_at_contact(m, d, con).normal) <= kRestSpeed + speed;
  }
}

void SustainedContacts::choose_rows(const mjData* d, Level level, double reach,
                                    contact::ContactProblem* problem) const {
  const auto is_left_out = [&](const contact::Row& row) {
    if (row.kind == contact::RowKind::kFriction) return true;
    const int source = row.source, type = d->efc_type[source];
    if (type != mjCNSTR_LIMIT_JOINT && type != mjCNSTR_LIMIT_TENDON) return false;
    const double speed = std::abs(calc_row_bias(d, source)) * reach;
    if (limit_gap(d, source) > kTouching + 0.5 * reach * speed) return true;
    return level == Level::acceleration && std::abs(d->efc_vel[source]) > kRestSpeed + speed;
  };
  std::erase_if(problem->rows, is_left_out);
  for (contact::Row& row : problem->rows)
    row.position = level == Level::impact ? 0 : calc_row_bias(d, row.source);
}

const SustainedContacts::Touching* SustainedContacts::find_touching(const mjContact& con) const {
  for (const Touching& t : touching_)
    if (t.geoms[0] == con.geom[0] && t.geoms[1] == con.geom[1]) return &t;
  return nullptr;
}

void add_viscous_forces(std::span<const double> v, contact::ContactProblem* problem,
                        std::vector<std::array<double, 3>>* forces) {
  forces->assign(problem->num_contacts(), {});
  for (const contact::BodyPair& pair : problem->pairs) {
    const math::Six V = contact::calc_pair_velocity(*problem, pair, v);
    math::Six F = math::Six::zero();
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const contact::Contact& c = problem->contacts[i];
      const std::array<double, 3> v_c = contact::calc_contact_velocity(c, V);
      for (int t = 0; t < 2; ++t) (*forces)[i][t] = -c.law.viscous_friction * v_c[t];
      F += contact::calc_contact_wrench(c, (*forces)[i]);
    }
    contact::add_pair_force(*problem, pair, F, problem->free_impulse);
  }
}

ViscousMotion::ViscousMotion(const StepInputs& in, StepMemories* memories, StepOutputs* out)
    : mocap_(memories->mocap),
      out_(*out),
      speculative_(in.model, in.options.contact_model, in.options.parameters, in.materials),
      impact_solver_(in.options.contact_model),
      acceleration_solver_(in.options.contact_model),
      left_out_(in.model->ngeom, 0) {
  refuse_dry_friction(in.model, kNeedsSmoothForces);
  no_implicit_forces_.clear(in.model->nv);
  memories->add(&impact_solver_);
  memories->add(&acceleration_solver_);
}

void ViscousMotion::start(const StepInputs& in, mjData* d) {
  find_positions(in, d);
  if (!out_.failed()) sustained_.record_start(d);
}

bool ViscousMotion::follow(const StepInputs& in, mjData* d, double reach) {
  find_positions(in, d);
  return !out_.failed() && sustained_.are_followed(in, d, reach);
}

/// Computes kinematics, contacts, constraint rows and velocities.
void ViscousMotion::find_positions(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  out_.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
    speculative_.collide(m, d, in.mocap, left_out_);
  });
  if (out_.failed()) return;
  warn_of_full_pair(speculative_.full_pair(), &out_);
  if (m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)) d->ncon = 0;
  // A contact whose distance is not finite would be ignored like a distant one.
  for (int i = 0; i < d->ncon; ++i)
    if (!std::isfinite(d->contact[i].dist))
      return out_.fail(kNonFiniteSolution,
                       "the distance of " + plant::describe(m, mjOBJ_GEOM, d->contact[i].geom[0]) +
                           " and " + plant::describe(m, mjOBJ_GEOM, d->contact[i].geom[1]) +
                           " is not finite");
  constraint_rows_.reserve(d);
  out_.call_mujoco(d, [&] { constraint_rows_.make_constraints(m, d); });
  if (!out_.failed()) out_.call_with_callbacks(in.model, d, [&] { mj_fwdVelocity(m, d); });
}

bool ViscousMotion::resolve_impacts(const StepInputs& in, mjData* d) {
  if (!sustained_.choose_touching(in, d)) return true;
  if (!solve(in, d, Level::impact, 1, 1)) return false;
  plant::to_mujoco_dofs(d, in.plant, contacts_.solution.v.data(), d->qvel);
  out_.call_with_callbacks(in.model, d, [&] { mj_fwdVelocity(in.models.stages(), d); });
  return !out_.failed();
}

bool ViscousMotion::calc_acceleration(const StepInputs& in, mjData* d, double reach,
                                      double duration, double* qacc) {
  const mjModel* m = in.models.stages();
  const bool is_restored = out_.call_control(in.model, d);
  if (out_.failed()) return false;
  out_.call_with_callbacks(in.model, d, [&] {
    if (is_restored) {
      mj_transmission(m, d);
      mj_fwdVelocity(m, d);
    }
    mj_fwdActuation(m, d);
    mj_fwdAcceleration(m, d);
  });
  if (out_.failed()) return false;
  sustained_.choose_sustained(in, d, reach);
  if (!solve(in, d, Level::acceleration, reach, duration)) return false;
  plant::to_mujoco_dofs(d, in.plant, contacts_.solution.v.data(), qacc);
  return std::all_of(qacc, qacc + m->nv, [](double a) { return std::isfinite(a); });
}

/// Assembles the problem; see the table of the class.
void ViscousMotion::assemble(const StepInputs& in, mjData* d, Level level, double reach) {
  const mjModel* m = in.models.stages();
  const plant::Model& plant = in.plant;
  const bool is_impact = level == Level::impact;
  contact::ContactProblem* const problem = &contacts_.problem;
  // Inertia, contacts and rows. A = M, because blocks of a time step of 0 have no implicit forces.
  problem->clear(0);
  plant::add_blocks(m, d, plant, no_implicit_forces_, &rank_one_terms_, problem);
  problem->time_step = 1;
  v_.assign(problem->v0.begin(), problem->v0.end());
  plant::add_contacts(m, d, plant, in.materials, {.acts = sustained_.acts(), .mocap = &in.mocap},
                      problem);
  constraint_rows_.add_rows(m, d, plant, {}, in.mocap, problem);
  sustained_.choose_rows(d, level, is_impact ? 0 : reach, problem);
  // Forces.
  if (is_impact) {
    std::fill(problem->free_impulse.begin(), problem->free_impulse.end(), 0.0);
  } else {
    std::fill(problem->v0.begin(), problem->v0.end(), 0.0);
    plant::to_solver_dofs(d, plant, d->qfrc_smooth, problem->free_impulse.data());
    add_viscous_forces(v_, problem, &viscous_forces_);
  }
  // The contacts' own terms.
  viscous_friction_.clear();
  surface_velocities_.clear();
  for (contact::Contact& c : problem->contacts) {
    viscous_friction_.push_back(c.law.viscous_friction);
    surface_velocities_.push_back(c.bias);
    c.phi0 = c.fn0 = 0;
    c.law.viscous_friction = 0;
    c.spin_bias = 0;
    c.bias = {0, 0, is_impact ? c.bias[2] : sustained_.bias(c.source)};
    if (!is_impact) c.law.restitution = 0;
  }
  calc_derived(in.models, &contacts_, &out_);
}

/// Assembles and solves a problem, and certifies its solution.
/// @param reach    the time over which accelerations change velocities [s]; 1 for velocities
/// @param duration the time over which forces act [s]; 1 for impulses
/// @return false if there is no solution, or if it fails its certificate
bool ViscousMotion::solve(const StepInputs& in, mjData* d, Level level, double reach,
                          double duration) {
  assemble(in, d, level, reach);
  if (out_.failed()) return false;
  SolverMemory& solver = level == Level::impact ? impact_solver_ : acceleration_solver_;
  solver->solve(contacts_.problem, contacts_.islands, make_row_options(in.options), {}, nullptr,
                &contacts_.solution);
  write_statistics(contacts_.problem, contacts_.solution, out_.report);
  if (std::ranges::all_of(contacts_.solution.islands, &is_exact))
    return certify(in, d, level, reach, duration);
  if (level == Level::impact) find_blocked_mocap(in, d, contacts_, &is_exact, &mocap_);
  return false;
}

/// Certifies the solution, and checks the momentum residual with MuJoCo's matrices. The step fails
/// if the two disagree. The reach of the first stage is 0, so its errors do not enter the report.
bool ViscousMotion::certify(const StepInputs& in, mjData* d, Level level, double reach,
                            double duration) {
  const bool is_impact = level == Level::impact;
  certificate::Certificate certificate =
      certify_solution(in, make_row_options(in.options), &contacts_, is_impact);
  if (!certificate.ok) return false;
  certificate::scale_to_velocities(reach, &certificate);
  if (!is_impact) {
    const std::span<const double> force = contacts_.certifier.constraint_impulse();
    certificate.energy_gain = reach * std::inner_product(v_.begin(), v_.end(), force.begin(), 0.0);
  }
  certificate::keep_worst(certificate, &out_.report->certificate);
  plant::write_row_forces(d, contacts_.problem, contacts_.solution);
  plant::MomentumCheck::Result momentum;
  out_.call_mujoco(d, [&] {
    momentum = check_momentum(in, d, no_implicit_forces_, is_impact ? nullptr : &viscous_friction_,
                              &contacts_);
  });
  const certificate::Verdict agreement = out_.report_momentum(momentum, duration);
  if (!agreement.ok()) out_.fail_certificate(agreement.failed());
  return !out_.failed();
}

void ViscousMotion::write_back(const StepInputs& in, mjData* d, double duration,
                               bool has_jacobian) {
  const mjModel* m = in.models.stages();
  contact::ContactSolution& solution = contacts_.solution;
  for (std::size_t i = 0; i < v_.size(); ++i) solution.v[i] += v_[i];
  // In the problem viscous friction is a smooth force. In MuJoCo's data it is a contact's force.
  for (std::size_t i = 0; i < viscous_forces_.size(); ++i)
    for (int t = 0; t < 2; ++t) solution.impulses[i][t] = viscous_forces_[i][t];
  if (sim::write_back(in, d, contacts_, &out_)) {
    out_.call_mujoco(d, [&] { mj_mulM(m, d, d->qfrc_constraint, d->qacc); });
    for (int i = 0; i < m->nv; ++i) d->qfrc_constraint[i] -= d->qfrc_smooth[i];
    for (const contact::BodyPair& pair : contacts_.problem.pairs) {
      const math::Six V = contact::calc_pair_velocity(contacts_.problem, pair, v_);
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        contact::Contact& c = contacts_.problem.contacts[i];
        c.bias = surface_velocities_[i];
        solution.contact_velocities[i] = contact::calc_contact_velocity(c, V);
        solution.impulses[i][2] *= duration;
        for (int t = 0; t < 2; ++t) solution.impulses[i][t] = duration * viscous_forces_[i][t];
      }
    }
    write_contacts(in.model, d, contacts_.problem, solution, &out_.report->contacts);
  }
  if (has_jacobian) complete_rows(in, d, contacts_.problem, &contact_jacobian_, &out_);
  (void)speculative_.remove_idle(d);
}

}  // namespace stiction::sim
