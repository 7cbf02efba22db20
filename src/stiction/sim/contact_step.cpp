#include "stiction/sim/contact_step.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/certificate/certificate_fields.hpp"
#include "stiction/contact/rigid_touch.hpp"
#include "stiction/formulations/convex/dense_hessian.hpp"
#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/dynamics.hpp"
#include "stiction/plant/write_back.hpp"
#include "stiction/sim/certificate_failure.hpp"
#include "stiction/sim/patch_writer.hpp"
#include "stiction/sim/report_writer.hpp"
#include "stiction/sim/stopwatch.hpp"

namespace stiction::sim {
namespace {

/// Pressure fields have laws that are linear in depth.
void check_law(const StepOptions& options, const plant::ContactPatches& patches) {
  using contact::NormalLawKind;
  const NormalLawKind law =
      contact::find_normal_law(options.contact_model, options.parameters.normal_law);
  if (patches.empty() || law == NormalLawKind::hunt_crossley || law == NormalLawKind::linear)
    return;
  throw Error(ErrorCode::kUnsupported, "normal_law",
              "is '" + std::string(contact::traits(law).name) +
                  "', a law of contact points, and the scene has pairs of pressure-field contact: "
                  "choose hunt_crossley or linear, or give no geom a hydroelastic_modulus");
}

}  // namespace

ContactStep::ContactStep(const mjModel* model, const StepOptions& options,
                         const plant::MaterialTable& materials)
    : speculative_(model, options.contact_model, options.parameters, materials),
      patches_(model,
               contact::traits(options.contact_model).takes_patches
                   ? materials
                   : plant::make_default_materials(model),
               options.surfaces),
      sees_limits_early_(contact::traits(options.contact_model).is_rigid),
      solver_(formulations::make_contact_solver(options.contact_model)) {
  check_law(options, patches_);
  if (options.num_threads > 1) threads_.emplace(options.num_threads);
}

void ContactStep::take(StepContext& context, mjData* d) {
  if (!find_velocities(context, d)) return;
  Stopwatch clock;
  advance(context, d);
  context.report.timings.finish += clock.lap();
}

bool ContactStep::find_velocities(StepContext& context, mjData* d, Part part) {
  part_ = part;
  // A step that is not made has no certificate.
  const bool was_ok = std::exchange(context.report.certificate.ok, false);
  Stopwatch clock;
  StepTimings& us = context.report.timings;
  const mjModel* m = context.stage;
  context.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
  });
  us.kinematics = clock.lap();
  if (context.failed()) return false;

  collide(context, d);
  if (context.failed()) return false;

  clock.lap();
  if (part == Part::later || part == Part::rest)
    calc_no_forces(context, d);
  else
    calc_smooth_forces(context, d);
  us.kinematics += clock.lap();
  if (context.failed()) return false;

  speculative_.choose(m, d, part == Part::first || part == Part::later);
  patches_.find_thin(m, d);
  assemble(context, d);
  us.assembly = clock.lap();
  if (context.failed()) return false;

  solve(context, d);
  us.solve = clock.lap();
  if (context.failed()) return false;

  context.report.certificate.ok = was_ok;
  certify(context, d);
  us.certificate = clock.lap();
  if (context.failed()) return false;

  write_contacts(context.model, d, problem_, solution_, &context.report.contacts, &patches_);
  write_patches(context.model, patches_, problem_, solution_, &context.report.patches);
  warn_of_patches(context);
  warn_of_conflicts(context, d);
  patches_.renumber(speculative_.remove_idle(d));
  us.finish += clock.lap();
  return true;
}

void ContactStep::copy_velocities(const StepContext& context, const mjData* d, double* qvel) const {
  plant::to_mujoco_dofs(d, context.plant, solution_.v.data(), qvel);
}

std::vector<double> ContactStep::calc_hessian() const {
  if (!has_solution_) return {};
  const std::vector<contact::PairHessian> pairs = solver_->calc_pair_hessians(problem_);
  if (pairs.size() != problem_.pairs.size()) return {};
  return formulations::calc_dense_hessian(problem_, pairs, solution_.v);
}

/// Points by MuJoCo, surfaces by us.
void ContactStep::collide(StepContext& context, mjData* d) {
  Stopwatch clock;
  const mjModel* m = context.stage;
  StepTimings& us = context.report.timings;
  context.call_mujoco(d,
                      [&] { speculative_.collide(m, d, context.plant, patches_.is_left_to_us()); });
  us.collision = clock.lap();
  us.surfaces = 0;
  const bool has_contacts = !(m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT));
  if (context.failed() || patches_.empty() || !has_contacts) return;
  patches_.calc_surfaces(m, d);
  context.call_mujoco(d, [&] { patches_.add_to_data(m, d); });
  us.surfaces = clock.lap();
}

/// Constraint rows, sensors of position and velocity, and all forces but those of constraints.
void ContactStep::calc_smooth_forces(StepContext& context, mjData* d) {
  const mjModel* model = context.model;
  const mjModel* m = context.stage;
  constraint_rows_.reserve(d);
  context.call_mujoco(d, [&] {
    if (sees_limits_early_) limits_.choose(m, d);
    constraint_rows_.make_constraints(m, d, sees_limits_early_ ? &limits_ : nullptr);
    // Sensors of either energy are read at this stage; stale flags would keep the last step's
    // value.
    d->flg_energypos = d->flg_energyvel = 0;
    mj_sensorPos(m, d);
    const bool wants_energy = model->opt.enableflags & mjENBL_ENERGY;
    if (!d->flg_energypos) {
      if (wants_energy)
        mj_energyPos(m, d);
      else
        d->energy[0] = d->energy[1] = 0;
    }
    mj_fwdVelocity(m, d);
    mj_sensorVel(m, d);
    if (wants_energy && !d->flg_energyvel) mj_energyVel(m, d);
    if (mjcb_control && !(model->opt.disableflags & mjDSBL_ACTUATION)) mjcb_control(model, d);
    mj_fwdActuation(m, d);
    mj_fwdAcceleration(m, d);
  });
}

/// Constraint rows where the bodies are now, and the forces that leave the velocities as they are:
/// what a part of a step changes in them, springs and dampers answer to.
void ContactStep::calc_no_forces(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  constraint_rows_.reserve(d);
  context.call_mujoco(d, [&] {
    if (sees_limits_early_) limits_.choose(m, d);
    constraint_rows_.make_constraints(m, d, sees_limits_early_ ? &limits_ : nullptr);
    mj_fwdVelocity(m, d);
  });
  if (context.failed()) return;
  implicit_.calc(m, d, context.plant);
  implicit_.calc_balancing_forces(d->qvel, m->opt.timestep, m->nv, d->qfrc_smooth);
  context.call_mujoco(d, [&] { mj_solveM(m, d, d->qacc_smooth, d->qfrc_smooth, 1); });
}

void ContactStep::assemble(StepContext& context, mjData* d) {
  const plant::Model& plant = context.plant;
  has_solution_ = false;
  problem_.clear(context.mirror.opt.timestep);
  implicit_.calc(context.stage, d, plant);
  plant::add_blocks(context.stage, d, plant, implicit_, &problem_);
  if (!(context.model->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT))) {
    plant::add_contacts(context.stage, d, plant, context.materials, speculative_.acts(), &problem_,
                        contact::find_normal_law(context.options.contact_model,
                                                 context.options.parameters.normal_law));
    patches_.add_contacts(context.stage, d, plant, context.materials, &problem_);
    if (part_ != Part::whole) adapt_contacts(context.stage, d);
  }
  const contact::ModelParameters& parameters = context.options.parameters;
  constraint_rows_.add_rows(context.stage, d, plant,
                            {parameters.stiction_tolerance, parameters.friction_regularization},
                            &problem_);
  plant::add_coupling_rows(d, plant, implicit_, &problem_);

  if (!momentum_factor_.calc_derived(contact::kNearRigidFactor, &problem_))
    return context.fail(kNotPositiveDefinite,
                        "the joint-space inertia is not positive definite; give every moving body "
                        "mass, or its joints armature");
  islands_.find(problem_);
}

/// Contacts of a part of a step: what an event let touch touches, and what closes no faster than
/// two steps' forces make it does not bounce, as contact::is_impact has it of whole steps.
void ContactStep::adapt_contacts(const mjModel* m, const mjData* d) {
  if (part_ == Part::first) {
    forced_change_.resize(m->nv);
    for (int i = 0; i < m->nv; ++i) forced_change_[i] = m->opt.timestep * d->qacc_smooth[i];
  }
  start_.calc(m, d, d->qvel);
  forced_.calc(m, d, forced_change_.data());
  for (contact::Contact& c : problem_.contacts) {
    if (contact::is_touching(c)) c.phi0 = std::min(c.phi0, 0.0);
    if (c.law.restitution == 0) continue;
    const mjContact& con = d->contact[c.source];
    const double v_n = start_.calc_at_contact(m, d, con).normal;
    const double change = std::abs(forced_.calc_at_contact(m, d, con).normal);
    if (-v_n <= 2 * change) c.law.restitution = 0;
  }
}

/// Solves with the contacts and limits that were foreseen, and again with those that impulses bring
/// about.
void ContactStep::solve(StepContext& context, mjData* d) {
  formulations::SolverOptions options;
  options.parameters = context.options.parameters;
  options.relative_tolerance = context.options.tolerance;
  options.max_iterations = context.options.max_iterations;
  base::ThreadPool* const threads = threads_ ? &*threads_ : nullptr;
  solver_->solve(problem_, islands_, options, {}, threads, &solution_);
  write_statistics(problem_, solution_, &context.report);
  constexpr int kMaxRounds = 3;
  for (int i = 0; i < kMaxRounds && add_reached(context, d); ++i) {
    const int num_before = context.report.statistics.iterations;
    // Where the problem is convex an island that is solved already stays as it is, bit for bit; a
    // nonlinear one does if it starts afresh.
    const bool is_convex = contact::traits(context.options.contact_model).has_error_bound;
    solver_->solve(problem_, islands_, options,
                   is_convex ? std::span<const double>(guess_) : std::span<const double>(), threads,
                   &solution_);
    write_statistics(problem_, solution_, &context.report);
    context.report.statistics.iterations += num_before;
  }
  has_solution_ = !context.failed();
  report_failures(context, d);
}

/// @return true if the problem has become another one, for which the solution is a guess
bool ContactStep::add_reached(StepContext& context, mjData* d) {
  qvel_.resize(context.stage->nv);
  plant::to_mujoco_dofs(d, context.plant, solution_.v.data(), qvel_.data());
  const bool adds_contacts = speculative_.add_reached(context.stage, d, qvel_.data());
  if (!add_reached_limits(context, d) && !adds_contacts) return false;
  guess_.assign(solution_.v.begin(), solution_.v.end());
  normal_guess_.assign(d->ncon, -1);
  patch_guess_.clear();
  for (std::size_t i = 0; i < solution_.normal_bounds.size(); ++i) {
    const contact::Contact& c = problem_.contacts[i];
    if (c.face < 0)
      normal_guess_[c.source] = solution_.normal_bounds[i];
    else
      patch_guess_.push_back(solution_.normal_bounds[i]);
  }
  assemble(context, d);
  // The points of patches are the same ones, in the same order.
  std::size_t next = 0;
  for (const contact::Contact& c : problem_.contacts) {
    const bool is_known = c.face < 0 || next < patch_guess_.size();
    problem_.normal_guess.push_back(!is_known    ? -1
                                    : c.face < 0 ? normal_guess_[c.source]
                                                 : patch_guess_[next++]);
  }
  return !context.failed();
}

/// @return true if limits take part, at qvel_, that did not
bool ContactStep::add_reached_limits(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  if (!sees_limits_early_ || !limits_.add_reached(m, d, qvel_.data())) return false;
  context.call_mujoco(d, [&] {
    constraint_rows_.make_constraints(m, d, &limits_);
    mj_referenceConstraint(m, d);
  });
  return !context.failed();
}

/// The limits of pressure fields: what they leave out is left out in silence otherwise.
void ContactStep::warn_of_patches(StepContext& context) const {
  for (const plant::PatchPair& pair : patches_.pairs()) {
    if (!pair.is_thin && !pair.is_deep) continue;
    const auto name = [&](int geom) { return plant::describe(context.model, mjOBJ_GEOM, geom); };
    ++context.report.num_warnings;
    context.report.warning =
        name(pair.geoms[0]) + " and " + name(pair.geoms[1]) +
        (pair.is_thin
             ? " come nearer by more than half the thickness of a compliant body within a step: "
               "the contact may be missed; take a smaller step"
             : " overlap beyond a compliant body's medial axis, where its pressure falls "
               "again, or lie behind a plane: use a thicker body, a larger modulus or a smaller "
               "step");
  }
}

void ContactStep::report_failures(StepContext& context, const mjData* d) const {
  for (int i = 0; i < islands_.size(); ++i) {
    const contact::IslandStatistics& island = solution_.islands[i];
    // Stopped by rounding: the certificate decides whether nothing else is left.
    if (island.status == contact::SolveStatus::kConverged ||
        island.status == contact::SolveStatus::kStagnated)
      continue;
    const std::string text = describe_failure(context, d, i);
    switch (island.status) {
      case contact::SolveStatus::kNotFinite: return context.fail(kNonFiniteSolution, text);
      case contact::SolveStatus::kNotPositiveDefinite:
        return context.fail(kNotPositiveDefinite, text);
      default: context.fail(kNotConverged, text); break;
    }
  }
  for (const double v : solution_.v)
    if (!std::isfinite(v))
      return context.fail(kNonFiniteSolution,
                          "the velocities are not finite" + find_cause(context));
}

std::string ContactStep::describe_failure(const StepContext& context, const mjData* d,
                                          int index) const {
  const contact::IslandStatistics& island = solution_.islands[index];
  const int body = context.plant.block(islands_.blocks(index)[0]).body;
  const double residual = island.scale > 0 ? island.residual / island.scale : island.residual;
  const std::string name = "the island of " + plant::describe(context.model, mjOBJ_BODY, body) +
                           ", with " + std::to_string(island.num_dofs) + " dofs and " +
                           std::to_string(island.num_contacts) + " contacts,";
  if (island.status == contact::SolveStatus::kTooLarge)
    return name +
           " has more unknowns than friction polygons are solved with, 3000: use fewer "
           "friction_directions, fewer contacts or another contact model";
  const std::string text =
      name + " stopped after " + std::to_string(island.iterations) + " iterations";
  if (!std::isfinite(residual))
    return "a value that is not finite reached the solver" + find_cause(context) + ": " + text;
  if (contact::traits(context.options.contact_model).is_rigid &&
      island.status != contact::SolveStatus::kNotFinite)
    return text + " with contacts or limits that no velocities satisfy" +
           describe_conflict(context, d, island) +
           ": surfaces that drive the bodies apart against each other, or an LCP beyond round-off; "
           "take a smaller step, or a compliant model";
  if (island.status == contact::SolveStatus::kInfeasible)
    return text +
           " that found no velocities at which all surfaces with barriers stay apart: take a "
           "smaller step, thicker or softer barriers, or friction that does not wedge";
  char accuracy[60];
  std::snprintf(accuracy, sizeof accuracy, " at a relative residual of %.1e", residual);
  std::string cause;
  if (context.options.contact_model == contact::ContactModel::tamsi)
    cause =
        "; tamsi divides a step into up to 20, but its law may leave it without a solution or "
        "with several: use another contact model, or a smaller step";
  return text + accuracy + cause;
}

/// ", found at geom 'a' and geom 'b'"; empty if there is no conflict.
std::string ContactStep::describe_conflict(const StepContext& context, const mjData* d,
                                           const contact::IslandStatistics& island) const {
  const auto name = [&](int geom) { return plant::describe(context.model, mjOBJ_GEOM, geom); };
  if (island.conflict_contact >= 0) {
    const int* geoms = d->contact[problem_.contacts[island.conflict_contact].source].geom;
    return ", found at " + name(geoms[0]) + " and " + name(geoms[1]);
  }
  if (island.conflict_row < 0) return "";
  const int dof = problem_.row_dof[problem_.rows[island.conflict_row].first_column];
  const int body = context.plant.block(islands_.block_of_dof(dof)).body;
  const bool is_limit = problem_.rows[island.conflict_row].kind == contact::RowKind::kLimit;
  return std::string(is_limit ? ", found at a limit of "
                              : ", found at an equality constraint of ") +
         plant::describe(context.model, mjOBJ_BODY, body);
}

/// What could not be corrected, all at once, was not, or in part: motion goes on without.
void ContactStep::warn_of_conflicts(StepContext& context, const mjData* d) const {
  for (const contact::IslandStatistics& island : solution_.islands) {
    if (!island.has_conflict) continue;
    ++context.report.num_warnings;
    context.report.warning =
        "overlaps, limits or equalities that cannot be corrected all at once were not, or not "
        "all the way" +
        describe_conflict(context, d, island) +
        ": something is squeezed, a joint's limit is within a surface, or an equality leads into "
        "one or contradicts another";
  }
}

/// ", of body 'x'": the first whose part of the problem is not finite; empty if there is none.
std::string ContactStep::find_cause(const StepContext& context) const {
  const auto is_finite = [](const double* values, int count) {
    return std::all_of(values, values + count, [](double x) { return std::isfinite(x); });
  };
  const auto name = [&](int block) {
    return ", of " + plant::describe(context.model, mjOBJ_BODY, context.plant.block(block).body);
  };
  for (int b = 0; b < problem_.num_blocks(); ++b) {
    const int start = problem_.dof_start[b], n = problem_.block_size(b);
    if (!is_finite(problem_.diagonal(b), n * n) || !is_finite(problem_.v0.data() + start, n) ||
        !is_finite(problem_.free_impulse.data() + start, n))
      return name(b);
  }
  for (const contact::Row& row : problem_.rows) {
    const double values[] = {row.regularization, row.target, row.bound};
    if (!is_finite(values, 3) ||
        !is_finite(problem_.row_columns.data() + row.first_column, row.num_columns))
      return name(islands_.block_of_dof(problem_.row_dof[row.first_column])) + "'s constraints";
  }
  return "";
}

/// Proves the solution, and writes it where the balance of momentum by MuJoCo's matrices reads it.
void ContactStep::certify(StepContext& context, mjData* d) {
  const double absolute_tolerance = formulations::SolverOptions().absolute_tolerance;
  const StepOptions& options = context.options;
  const certificate::SolvedStep step = {.problem = problem_,
                                        .islands = islands_,
                                        .model = options.contact_model,
                                        .parameters = options.parameters,
                                        .relative_tolerance = options.tolerance,
                                        .absolute_tolerance = absolute_tolerance,
                                        .solution = solution_};
  const certificate::Certificate certificate = certifier_.certify(step, &momentum_factor_);
  certificate::keep_worst(certificate, &context.report.certificate);
  if (!plant::write_back(context.stage, d, context.plant, problem_, solution_,
                         certifier_.constraint_impulse()))
    return context.fail(kBufferFull,
                        "the constraint forces do not fit in mjData's arena; enlarge it with <size "
                        "memory=\"...\"/>");

  plant::MomentumCheck::Result momentum;
  context.call_mujoco(d, [&] {
    momentum = momentum_check_.calc({.model = context.stage,
                                     .data = d,
                                     .plant = context.plant,
                                     .problem = problem_,
                                     .solution = solution_,
                                     .imbalance = certifier_.imbalance()},
                                    implicit_);
  });
  const certificate::Verdict agreement = report_momentum(context, momentum);
  if (!certificate.ok)
    fail_certificate(context, certificate.failed);
  else if (!agreement.ok())
    fail_certificate(context, agreement.failed());
}

void ContactStep::sense(StepContext& context, mjData* d) {
  context.call_mujoco(d, [&] {
    d->flg_rnepost = 0;
    mj_sensorAcc(context.stage, d);
  });
}

void ContactStep::advance(StepContext& context, mjData* d) {
  sense(context, d);
  context.call_mujoco(d, [&] { mj_Euler(&context.mirror, d); });
}

}  // namespace stiction::sim
