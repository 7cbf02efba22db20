#include "stiction/sim/integrators/contact_step.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/certificate/certificate_fields.hpp"
#include "stiction/contact/overlap_correction.hpp"
#include "stiction/formulations/convex/dense_hessian.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/rows/contact_rows.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/step/certificate_failure.hpp"
#include "stiction/sim/step/run_stage.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"
#include "stiction/sim/warnings/failure_text.hpp"

namespace stiction::sim {
namespace {

std::array<int, 2> find_bodies(const mjModel* m, const mjContact& con) {
  return {m->geom_bodyid[con.geom[0]], m->geom_bodyid[con.geom[1]]};
}

/// Finds the bodies of each pair of a problem.
void find_pair_bodies(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                      std::vector<std::array<int, 2>>* bodies) {
  bodies->clear();
  for (const contact::BodyPair& pair : problem.pairs)
    if (pair.num_contacts > 0)
      bodies->push_back(find_bodies(m, d->contact[problem.contacts[pair.first_contact].source]));
}

/// Checks that the normal law supports pressure fields if the scene has any.
/// @throws Error otherwise
void check_law(const StepOptions& options, const plant::ContactPatches& patches) {
  const contact::NormalLawTraits& law = contact::traits(
      contact::find_normal_law(options.contact_model, options.parameters.normal_law));
  if (patches.empty() || law.takes_patches) return;
  std::string others;
  for (const contact::NormalLawTraits& other : contact::normal_laws())
    if (other.takes_patches) others += (others.empty() ? "" : " or ") + std::string(other.name);
  throw Error(ErrorCode::kUnsupported, "normal_law",
              "is '" + std::string(law.name) +
                  "', which supports contact points only, but geoms of the scene touch in patches; "
                  "choose " +
                  others + ", or give no geom a hydroelastic_modulus");
}

/// True if the force of an actuator depends on the time step, because it takes the activation of
/// the end of the step.
bool has_early_activation(const mjModel* m) {
  return std::any_of(m->actuator_actearly, m->actuator_actearly + m->nactuator,
                     [](mjtBool is_early) { return is_early != 0; });
}

bool has_contacts(const mjModel* m) {
  return !(m->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT));
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
      has_speculative_limits_(contact::traits(options.contact_model).is_rigid),
      implicit_(!contact::traits(options.contact_model).is_rigid),
      solver_(formulations::make_contact_solver(options.contact_model)) {
  check_law(options, patches_);
  if (options.num_threads > 1) threads_.emplace(options.num_threads);
}

void ContactStep::take(StepContext& context, mjData* d) {
  if (!find_velocities(context, d)) return;
  (void)run_stage(context, &StepTimings::finish, [&] { advance(context, d); });
}

void ContactStep::forward(StepContext& context, mjData* d, StepPart part) {
  part.has_jacobian = true;
  if (find_velocities(context, d, part))
    (void)run_stage(context, &StepTimings::finish, [&] { sense(context, d); });
}

bool ContactStep::find_velocities(StepContext& context, mjData* d, const StepPart& part) {
  using Time = StepTimings;
  part_ = part;
  context.report.timings = {};
  context.start_clock();
  // A step has no certificate until its certificate stage.
  const bool was_ok = std::exchange(context.report.certificate.ok, false);
  const bool is_solved =
      (part.keeps_geometry || find_geometry(context, d)) &&
      run_stage(context, &Time::assembly,
                [&] { part.keeps_geometry ? assemble_again(context, d) : assemble(context, d); }) &&
      run_stage(context, &Time::solve, [&] { solve(context, d); }) &&
      run_stage(context, &Time::certificate, [&] { certify(context, d, was_ok); });
  if (!is_solved || part.is_trial) return is_solved;
  return run_stage(context, &Time::finish, [&] {
    if (part.has_jacobian) complete_rows(context, d, contacts_.problem, &contact_jacobian_);
    report(context, d);
  });
}

/// Computes what depends on the state and not on the time step: poses, contacts, rows and forces.
bool ContactStep::find_geometry(StepContext& context, mjData* d) {
  using Time = StepTimings;
  return run_stage(context, &Time::kinematics, [&] { calc_kinematics(context, d); }) &&
         run_stage(context, &Time::collision, [&] { collide(context, d); }) &&
         run_stage(context, &Time::surfaces, [&] { calc_surfaces(context, d); }) &&
         run_stage(context, &Time::kinematics, [&] { calc_forces(context, d); });
}

void ContactStep::copy_velocities(const StepContext& context, const mjData* d, double* qvel) const {
  plant::to_mujoco_dofs(d, context.plant, contacts_.solution.v.data(), qvel);
}

std::vector<double> ContactStep::calc_hessian() const {
  if (!has_solution_) return {};
  const contact::ContactProblem& problem = contacts_.problem;
  const std::vector<contact::PairHessian> pairs = solver_->calc_pair_hessians(problem);
  if (pairs.size() != problem.pairs.size()) return {};
  return formulations::calc_dense_hessian(problem, pairs, contacts_.solution.v);
}

void ContactStep::calc_kinematics(StepContext& context, mjData* d) {
  // MuJoCo computes the poses of fixed bodies only once if trees may sleep.
  const bool needs_all = context.sleep.needs_all_kinematics();
  const mjModel* m = needs_all ? &context.sleepless : context.stage;
  context.call_mujoco(d, [&] {
    mj_fwdKinematics(m, d);
    mj_makeM(m, d);
    mj_factorM(m, d);
  });
  if (needs_all) context.sleep.write_arrays(context.model, d);
}

/// Finds the contact points by MuJoCo's collision detection. Trees that awake ones touch wake and
/// may touch others, so this is repeated until none wakes.
void ContactStep::collide(StepContext& context, mjData* d) {
  for (;;) {
    context.call_mujoco(d, [&] {
      speculative_.collide(context.stage, d, context.mocap, patches_.touches_only_in_patches());
    });
    if (context.failed() || !wake_touched(context, d)) return;
    calc_kinematics(context, d);
    if (context.failed()) return;
  }
}

/// Wakes the sleeping trees that others touch.
/// @return true if there were any
bool ContactStep::wake_touched(StepContext& context, mjData* d) {
  Sleep& sleep = context.sleep;
  if (sleep.num_asleep() == 0) return false;
  const mjModel* m = context.stage;
  bool is_any = false;
  const auto wake = [&](const std::array<int, 2>& bodies) {
    is_any |= sleep.wake_touched(m, d, bodies);
  };
  for (int i = 0; i < d->ncon; ++i)
    if (speculative_.acts_at_start(m, d, d->contact[i])) wake(find_bodies(m, d->contact[i]));
  patches_.for_each_touch(
      m, d, [&](int A, int B) { return sleep.sleeps(m, A) || sleep.sleeps(m, B); }, wake);
  if (is_any)
    sleep.update(m, d, &context.plant);
  else
    sleep.remove_contacts(m, d);
  return is_any;
}

/// Wakes the sleeping trees of contacts that take part only because of the forces. Their positions
/// and forces are not known in this step, so the step must be taken again.
void ContactStep::wake_late(StepContext& context, mjData* d) {
  Sleep& sleep = context.sleep;
  if (sleep.num_asleep() == 0) return;
  const mjModel* m = context.stage;
  for (int i = 0; i < d->ncon; ++i)
    if (speculative_.acts()[i])
      context.must_retake |= sleep.wake_touched(m, d, find_bodies(m, d->contact[i]));
  if (context.must_retake) sleep.update(m, d, &context.plant);
}

void ContactStep::follow_model(const mjModel* m, const StepOptions& options) {
  patches_.follow_model(m);
  check_law(options, patches_);
}

std::uint32_t ContactStep::find_memory_used() const {
  const auto has_surface = [](const plant::PatchPair& pair) { return !pair.points.empty(); };
  const bool is_in_patches =
      std::any_of(patches_.pairs().begin(), patches_.pairs().end(), has_surface);
  std::uint32_t used = 0;
  if (solver_->has_memory()) used |= kActiveSet;
  if (is_in_patches) used |= kPatchHistory;
  return used;
}

/// Computes the contact surfaces of pressure fields.
void ContactStep::calc_surfaces(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  if (!patches_.empty() && has_contacts(m)) {
    patches_.calc_surfaces(m, d, [&](int A, int B) { return context.sleep.leaves_out(m, A, B); });
    context.call_mujoco(d, [&] { patches_.add_to_data(m, d); });
  }
}

void ContactStep::calc_forces(StepContext& context, mjData* d) {
  if (part_.has_forces)
    calc_smooth_forces(context, d);
  else
    calc_balancing_forces(context, d);
}

/// Computes constraint rows, sensors of position and velocity, and all forces except constraint
/// forces.
void ContactStep::calc_smooth_forces(StepContext& context, mjData* d) {
  const mjModel* model = context.model;
  const mjModel* m = context.stage;
  adhesion_.calc(m, d);
  constraint_rows_.reserve(d);
  context.call_mujoco(d, [&] {
    make_constraints(context.rows_stage(), context.mocap, d);
    mj_fwdVelocity(m, d);
    sense_state(m, d);
    if (mjcb_control && !(model->opt.disableflags & mjDSBL_ACTUATION)) mjcb_control(model, d);
  });
  if (context.failed()) return;
  if (mjcb_control && context.sleep.wake_within_step(model, d, &context.plant))
    context.must_retake = true;
  context.call_mujoco(d, [&] {
    mj_fwdActuation(m, d);
    mj_fwdAcceleration(m, d);
  });
}

/// Computes constraint rows at the bodies' present positions, and the forces that keep the
/// velocities as they are. Springs and dampers then respond only to the changes of velocity that
/// impulses make.
void ContactStep::calc_balancing_forces(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  adhesion_.calc(m, d);
  constraint_rows_.reserve(d);
  context.call_mujoco(d, [&] {
    make_constraints(m, context.mocap, d);
    mj_fwdVelocity(m, d);
  });
  if (context.failed()) return;
  implicit_.start(m);
  implicit_.calc(m, d, context.plant);
  implicit_.calc_balancing_forces(d->qvel, m->opt.timestep, m->nv, d->qfrc_smooth);
  context.call_mujoco(d, [&] { mj_solveM(m, d, d->qacc_smooth, d->qfrc_smooth, 1); });
}

/// Calls MuJoCo to make its constraint rows. This function must not own memory, because an error of
/// MuJoCo jumps out of it.
void ContactStep::make_constraints(const mjModel* m, const plant::MocapMotion& mocap, mjData* d) {
  if (has_speculative_limits_) limits_.choose(m, d, mocap);
  constraint_rows_.make_constraints(m, d, has_speculative_limits_ ? &limits_ : nullptr, &adhesion_);
}

/// True if friction is bounded by the normal impulses that the last step found. In the later parts
/// of a step that is divided at events, contacts have only the impulses of impacts.
bool ContactStep::lags_friction(const StepContext& context) const {
  return part_.has_forces && context.options.remember_forces &&
         contact::traits(context.options.contact_model).lags_friction;
}

/// Chooses the contacts that take part, and assembles their problem.
void ContactStep::assemble(StepContext& context, mjData* d) {
  speculative_.choose(context.stage, d, part_.only_touching);
  wake_late(context, d);
  if (context.failed()) return;
  patches_.find_thin(context.stage, d, context.mocap);
  implicit_.start(context.stage);
  assemble_chosen(context, d);
}

/// Assembles the contacts of the last part again, with the present time step. A longer step had
/// more of them in reach; those out of reach have no impulse.
void ContactStep::assemble_again(StepContext& context, mjData* d) {
  const double scale = context.mirror.opt.timestep / contacts_.problem.time_step;
  const bool has_guess = has_solution_;
  if (has_guess) normal_guess_.read(contacts_.problem, contacts_.solution, d->ncon);
  if (has_early_activation(context.stage))
    context.call_mujoco(d, [&] {
      mj_fwdActuation(context.stage, d);
      mj_fwdAcceleration(context.stage, d);
    });
  implicit_.start(context.stage);
  assemble_chosen(context, d);
  if (has_guess) normal_guess_.write(&contacts_.problem, scale);
}

void ContactStep::assemble_chosen(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  const plant::Model& plant = context.plant;
  const contact::ModelParameters& parameters = context.options.parameters;
  contact::ContactProblem* const problem = &contacts_.problem;
  has_solution_ = false;
  // Inertia and smooth forces.
  problem->clear(context.mirror.opt.timestep);
  implicit_.calc(m, d, plant);
  plant::add_blocks(m, d, plant, implicit_, &rank_one_terms_, problem);
  // Contacts.
  if (has_contacts(context.model)) {
    plant::add_contacts(
        m, d, plant, context.materials,
        {.acts = speculative_.acts(),
         .law = contact::find_normal_law(context.options.contact_model, parameters.normal_law),
         .mocap = &context.mocap},
        problem);
    patches_.add_contacts(m, d, plant, context.materials, context.mocap, problem);
    contact::correct_overlaps(context.options.contact_model, parameters, problem);
    adhesion_.limit_separation(contact::traits(context.options.contact_model).is_rigid, problem);
    if (part_.divided) {
      if (part_.has_forces) part_.divided->keep_forced_change(m, d);
      part_.divided->adapt(m, d, context.mocap, problem);
    }
    if (lags_friction(context)) context.lagged_impulses.write(m, d, problem);
  }
  // Equalities, limits, dry friction and coupled springs.
  constraint_rows_.add_rows(m, d, plant,
                            {parameters.stiction_tolerance, parameters.friction_regularization},
                            context.mocap, problem);
  plant::add_coupling_rows(d, plant, implicit_, problem);
  derive(context, &contacts_);
  if (has_anchors(parameters) && !context.failed())
    context.anchors.write(m, d, patches_.pairs(), context.mocap, problem);
}

/// Solves the problem with the contacts and limits that were chosen from the state. Solves it again
/// if the solution closes further contacts or limits, or reaches force limits of servos.
void ContactStep::solve(StepContext& context, mjData* d) {
  const formulations::SolverOptions options = make_solver_options(context.options);
  const bool is_convex = contact::traits(context.options.contact_model).has_error_bound;
  const auto solve_from = [&](std::span<const double> guess) {
    solver_->solve(contacts_.problem, contacts_.islands, options, guess,
                   threads_ ? &*threads_ : nullptr, &contacts_.solution);
    write_statistics(contacts_.problem, contacts_.solution, &context.report);
    append_traces(contacts_.solution, &context.report.trace);
  };
  std::span<const double> guess;
  if (!part_.guess.empty() && is_convex) {
    guess_.resize(context.plant.num_dofs());
    plant::to_solver_dofs(d, context.plant, part_.guess.data(), guess_.data());
    guess = guess_;
  }
  solve_from(guess);
  // An island that the new contacts do not change must keep its solution bit for bit. A convex
  // solver keeps it if it starts from this solution. A nonlinear solver must start from scratch.
  constexpr int kMaxRounds = 3;
  for (int i = 0; add_reached(context, d, i < kMaxRounds); ++i) {
    const StepStatistics before = context.report.statistics;
    solve_from(is_convex ? std::span<const double>(guess_) : std::span<const double>());
    context.report.statistics.iterations += before.iterations;
    context.report.statistics.num_lemke += before.num_lemke;
  }
  has_solution_ = !context.failed();
  if (context.must_retake) return;
  report_failures(context, d);
  if (context.report.status & kNotConverged) blame_mocap_bodies(context, d, contacts_);
}

/// Adds the contacts and limits that close at the solution's velocities, and the force limits of
/// servos. Each force limit is added at most once, so rounds without contacts end.
/// @param wants_contacts false to add only force limits
/// @return true if there are any; the last solution is then the initial guess for the new problem
bool ContactStep::add_reached(StepContext& context, mjData* d, bool wants_contacts) {
  const contact::ContactSolution& solution = contacts_.solution;
  qvel_.assign(context.stage->nv, 0.0);
  plant::to_mujoco_dofs(d, context.plant, solution.v.data(), qvel_.data());
  bool is_any = implicit_.add_reached_limits(contacts_.problem.time_step, qvel_);
  if (wants_contacts) {
    is_any |= speculative_.add_reached(context.stage, d, qvel_.data());
    is_any |= add_reached_limits(context, d);
  }
  if (!is_any) return false;
  wake_late(context, d);
  if (context.failed()) return false;
  guess_.assign(solution.v.begin(), solution.v.end());
  normal_guess_.read(contacts_.problem, solution, d->ncon);
  assemble_chosen(context, d);
  normal_guess_.write(&contacts_.problem);
  return !context.failed();
}

bool ContactStep::add_reached_limits(StepContext& context, mjData* d) {
  const mjModel* m = context.stage;
  if (!has_speculative_limits_ || !limits_.add_reached(m, d, context.mocap, qvel_.data()))
    return false;
  context.call_mujoco(d, [&] {
    constraint_rows_.make_constraints(m, d, &limits_, &adhesion_, qvel_.data());
    mj_referenceConstraint(m, d);
  });
  return !context.failed();
}

void ContactStep::report_failures(StepContext& context, const mjData* d) const {
  using contact::SolveStatus;
  for (int i = 0; i < contacts_.islands.size(); ++i) {
    const SolveStatus status = contacts_.solution.islands[i].status;
    // If round-off stopped the solver, the certificate decides whether the solution is accurate
    // enough.
    if (status == SolveStatus::kConverged || status == SolveStatus::kStagnated) continue;
    const std::string text = describe_failure(context, d, contacts_, i);
    if (status == SolveStatus::kNotFinite) return context.fail(kNonFiniteSolution, text);
    if (status == SolveStatus::kNotPositiveDefinite)
      return context.fail(kNotPositiveDefinite, text);
    if (status == SolveStatus::kTooLarge) return context.fail(kTooLarge, text);
    context.fail(kNotConverged, text);
  }
  for (const double v : contacts_.solution.v)
    if (!std::isfinite(v))
      return context.fail(kNonFiniteSolution, describe_non_finite_velocities(context, contacts_));
}

/// Certifies the solution, writes it to MuJoCo's data, and checks the balance of momentum there.
/// @param was_ok false if a step or part before this one failed its certificate
void ContactStep::certify(StepContext& context, mjData* d, bool was_ok) {
  context.report.certificate.ok = was_ok;
  if (part_.is_trial && !part_.has_certificate) {
    velocity_bound_ = 0;
    return;
  }
  const certificate::Certificate certificate =
      certify_solution(context, make_solver_options(context.options), &contacts_);
  certificate::keep_worst(certificate, &context.report.certificate);
  error_bound_ = certificate.error_bound;
  velocity_bound_ = certificate.velocity_bound;
  if (part_.is_trial) {
    if (!certificate.ok)
      fail_certificate(context, certificate.failed, describe_mass_ratio(context, contacts_));
    return;
  }
  if (!write_back(context, d, contacts_)) return;

  qvel_.assign(context.stage->nv, 0.0);
  plant::MomentumCheck::Result momentum;
  context.call_mujoco(d, [&] {
    plant::write_servo_forces(context.stage, d, context.plant, implicit_, contacts_.problem,
                              contacts_.solution, qvel_);
    momentum = check_momentum(context, d, implicit_, &contacts_);
  });
  const certificate::Verdict agreement = report_momentum(context, momentum);
  is_certified_ = certificate.ok && agreement.ok();
  if (!certificate.ok)
    fail_certificate(context, certificate.failed, describe_mass_ratio(context, contacts_));
  else if (!agreement.ok())
    fail_certificate(context, agreement.failed());
}

/// Writes the report's contacts and patches, and its warnings.
void ContactStep::report(StepContext& context, mjData* d) {
  StepReport& report = context.report;
  adhesion_.restore_distances(&contacts_.problem);
  write_contacts(context.model, d, contacts_.problem, contacts_.solution, &report.contacts,
                 &patches_);
  if (context.report_parts.patches || !context.taxels.empty())
    write_patches(context.model, patches_, contacts_.problem, contacts_.solution, &report.patches);
  warn_of_patch_limits(context, patches_);
  warn_of_conflicts(context, d, contacts_);
  if (lags_friction(context)) context.lagged_impulses.record(contacts_.problem, contacts_.solution);
  if (has_anchors(context.options.parameters)) record_anchors(context);
  warn_of_large_force(context, d, contacts_, &force_scratch_);
  record_penetration(context, contacts_.problem.time_step);
  warn_of_law_range(context, contacts_.problem.time_step);
  warn_of_coupling(context, contacts_);
  if (context.has_sleep()) find_pair_bodies(context.stage, d, contacts_.problem, &bodies_);
  patches_.renumber(speculative_.remove_idle(d));
}

/// Records the stretches at the end of the step. Trees that sleep keep theirs.
void ContactStep::record_anchors(StepContext& context) const {
  const mjModel* m = context.model;
  const Sleep& sleep = context.sleep;
  if (context.anchors.record(contacts_.problem, contacts_.solution)) warn_of_lost_anchors(context);
  if (sleep.num_asleep() > 0)
    context.anchors.keep([&](int A, int B) {
      return sleep.sleeps(m, m->geom_bodyid[A]) || sleep.sleeps(m, m->geom_bodyid[B]);
    });
  context.report.anchors = context.anchors.summary();
}

void ContactStep::sense_state(const mjModel* m, mjData* d) {
  // MuJoCo's sensors compute an energy only if its flag is not set. Reset the flags, or the
  // sensors would keep the energies of the last step.
  d->flg_energypos = d->flg_energyvel = 0;
  mj_sensorPos(m, d);
  const bool wants_energy = m->opt.enableflags & mjENBL_ENERGY;
  if (!d->flg_energypos) {
    if (wants_energy)
      mj_energyPos(m, d);
    else
      d->energy[0] = d->energy[1] = 0;
  }
  mj_sensorVel(m, d);
  if (wants_energy && !d->flg_energyvel) mj_energyVel(m, d);
}

void ContactStep::sense(StepContext& context, mjData* d) {
  context.call_mujoco(d, [&] {
    d->flg_rnepost = 0;
    mj_sensorAcc(context.stage, d);
  });
}

void ContactStep::advance(StepContext& context, mjData* d) {
  sense(context, d);
  context.sleep.hide_counts(context.model, d);
  context.call_mujoco(d, [&] { mj_Euler(&context.mirror, d); });
  if (!context.failed() && context.has_sleep()) finish_sleep(context, d);
}

/// Puts trees to sleep, and reports the sleep.
void ContactStep::finish_sleep(StepContext& context, mjData* d) {
  const bool is_ok = is_certified_ && std::ranges::all_of(contacts_.solution.islands, &is_solved);
  Sleep& sleep = context.sleep;
  sleep.finish(context.model, d,
               {.problem = contacts_.problem,
                .solution = contacts_.solution,
                .error_bound = error_bound_,
                .is_ok = is_ok,
                .bodies = bodies_},
               &context.plant);
  StepReport& report = context.report;
  // A run that goes on from a checkpoint does not know the forces at which trees fell asleep.
  if (sleep.num_asleep() > 0)
    context.lagged_impulses.leave_out([&](int A, int B) {
      return sleep.sleeps(context.model, context.model->geom_bodyid[A]) ||
             sleep.sleeps(context.model, context.model->geom_bodyid[B]);
    });
  report.statistics.num_asleep = sleep.num_asleep();
  report.certificate.sleep_bound = std::max(report.certificate.sleep_bound, sleep.bound());
}

}  // namespace stiction::sim
