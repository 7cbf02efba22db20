#include "stiction/sim/integrators/contact_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stiction/certificate/certificate.hpp"
#include "stiction/formulations/convex/dense_hessian.hpp"
#include "stiction/plant/forces/dynamics.hpp"
#include "stiction/plant/solution/write_back.hpp"
#include "stiction/sim/report/report_writer.hpp"
#include "stiction/sim/warnings/contact_warnings.hpp"
#include "stiction/sim/warnings/failure_text.hpp"

namespace stiction::sim {
namespace {

bool is_patch_point(const contact::Contact& c) { return c.face >= 0; }

/// Finds the bodies of each pair of a problem.
void find_pair_bodies(const mjModel* m, const mjData* d, const contact::ContactProblem& problem,
                      std::vector<std::array<int, 2>>* bodies) {
  bodies->clear();
  for (const contact::BodyPair& pair : problem.pairs)
    if (pair.num_contacts > 0)
      bodies->push_back(find_bodies(m, d->contact[problem.contacts[pair.first_contact].source]));
}

TouchMemory::CarryOptions make_carry_options(const StepInputs& in, bool has_impulses) {
  const contact::ModelParameters& parameters = in.options.parameters;
  return {
      .has_impulses = has_impulses,
      .has_near_rigid = !in.contact_model().is_rigid,
      .stiffness = contact::find_stiffness(in.options.contact_model, parameters),
      .has_relaxation = contact::calc_property_use(in.options.contact_model, parameters.normal_law)
                            .relaxation_time,
      .correction_speed = parameters.max_correction_speed};
}

}  // namespace

void NormalGuess::read(const contact::ContactProblem& problem,
                       const contact::ContactSolution& solution, int num_mujoco_contacts) {
  points_.assign(num_mujoco_contacts, std::nullopt);
  patch_points_.clear();
  for (std::size_t i = 0; i < solution.normal_bounds.size(); ++i) {
    const contact::Contact& c = problem.contacts[i];
    if (is_patch_point(c))
      patch_points_.push_back(solution.normal_bounds[i]);
    else
      points_[c.source] = solution.normal_bounds[i];
  }
}

void NormalGuess::write(contact::ContactProblem* problem, double scale) const {
  std::size_t next = 0;  // point of a patch
  for (const contact::Contact& c : problem->contacts) {
    std::optional<double> guess;
    if (!is_patch_point(c))
      guess = points_[c.source];
    else if (next < patch_points_.size())
      guess = patch_points_[next++];
    if (guess) *guess *= scale;
    problem->normal_guess.push_back(guess);
  }
}

ContactStep::ContactStep(const StepInputs& in, StepMemories* memories, StepOutputs* out)
    : memories_(*memories),
      out_(*out),
      solver_(in.options.contact_model),
      geometry_(in.model, in.options, in.materials, &memories->sleep, out) {
  memories->add(&solver_);
  memories->add(geometry_.patch_memory());
  memories->add(geometry_.manifolds());
  if (in.options.num_threads > 1) threads_.emplace(in.options.num_threads);
}

void ContactStep::take(const StepInputs& in, mjData* d) {
  if (!find_velocities(in, d)) return;
  (void)out_.run_stage(&StepTimings::finish, [&] { advance(in, d); });
}

void ContactStep::forward(const StepInputs& in, mjData* d, StepPart part) {
  part.has_jacobian = true;
  if (find_velocities(in, d, part))
    (void)out_.run_stage(&StepTimings::finish, [&] { sense_accelerations(in, d, &out_); });
}

bool ContactStep::find_velocities(const StepInputs& in, mjData* d, const StepPart& part) {
  using Time = StepTimings;
  part_ = part;
  out_.report->timings = {};
  out_.start_clock();
  // A step has no certificate until its certificate stage.
  const bool was_ok = std::exchange(out_.report->certificate.ok, false);
  const bool is_solved =
      (part.keeps_geometry || geometry_.calc(in, d, part.has_forces)) &&
      out_.run_stage(&Time::assembly,
                     [&] { part.keeps_geometry ? assemble_again(in, d) : assemble(in, d); }) &&
      out_.run_stage(&Time::solve, [&] { solve(in, d); }) &&
      out_.run_stage(&Time::certificate, [&] { certify(in, d, was_ok); });
  if (!is_solved || part.is_trial) return is_solved;
  return out_.run_stage(&Time::finish, [&] { report(in, d); });
}

void ContactStep::copy_velocities(const StepInputs& in, const mjData* d, double* qvel) const {
  plant::to_mujoco_dofs(d, in.plant, contacts_.solution.v.data(), qvel);
}

std::vector<double> ContactStep::calc_hessian() const {
  if (!has_solution_) return {};
  const contact::ContactProblem& problem = contacts_.problem;
  const std::vector<contact::PairHessian> pairs = solver_->calc_pair_hessians(problem);
  if (pairs.size() != problem.pairs.size()) return {};
  return formulations::calc_dense_hessian(problem, pairs, contacts_.solution.v);
}

/// True if friction is bounded by the normal impulses that the last step found. In the later parts
/// of a step that is divided at events, contacts have only the impulses of impacts.
bool ContactStep::lags_friction(const StepInputs& in) const {
  return part_.has_forces && in.options.remember_forces && in.contact_model().lags_friction;
}

/// Chooses the contacts that take part, and assembles their problem.
void ContactStep::assemble(const StepInputs& in, mjData* d) {
  geometry_.choose(in, d, part_.only_touching);
  if (out_.failed()) return;
  geometry_.start_problem(in);
  assemble_chosen(in, d);
}

/// Assembles the contacts of the last part again, with the present time step. A longer step had
/// more of them in reach; those out of reach have no impulse.
void ContactStep::assemble_again(const StepInputs& in, mjData* d) {
  const double scale = in.time_step() / contacts_.problem.time_step;
  const bool has_guess = has_solution_;
  if (has_guess) normal_guess_.read(contacts_.problem, contacts_.solution, d->ncon);
  geometry_.adapt_forces(in, d);
  geometry_.start_problem(in);
  assemble_chosen(in, d);
  if (has_guess) normal_guess_.write(&contacts_.problem, scale);
}

void ContactStep::assemble_chosen(const StepInputs& in, mjData* d) {
  const mjModel* m = in.models.stages();
  contact::ContactProblem* const problem = &contacts_.problem;
  has_solution_ = false;
  problem->clear(in.time_step());
  geometry_.add_contacts(in, d, problem);
  if (has_contacts(in.model)) {
    if (part_.contacts) {
      if (part_.has_forces) part_.contacts->keep_forced_change(m, d);
      part_.contacts->adapt(m, d, in.mocap, problem);
    }
    memories_.touch.carry_to(d, make_carry_options(in, lags_friction(in)), problem);
  }
  geometry_.add_rows(in, d, problem);
  calc_derived(in.models, &contacts_, &out_);
  if (has_anchors(in.options.parameters) && !out_.failed())
    memories_.anchors.carry_to(m, d, in.materials, geometry_.patches().pairs(), in.mocap,
                               in.models.reference_time_step(), problem);
}

/// Solves the problem with the contacts and limits that were chosen from the state. Solves it again
/// if the solution closes further contacts or limits, or reaches force limits of servos.
void ContactStep::solve(const StepInputs& in, mjData* d) {
  const bool is_convex = in.contact_model().has_error_bound;
  StepStatistics& statistics = out_.report->statistics;
  std::span<const double> guess;
  if (!part_.guess.empty() && is_convex) {
    guess_.resize(in.plant.num_dofs());
    plant::to_solver_dofs(d, in.plant, part_.guess.data(), guess_.data());
    guess = guess_;
  }
  if (memories_.anchors.has_joints()) {
    if (guess.empty()) guess_ = contacts_.problem.v0;
    if (memories_.anchors.stop_held_joints(contacts_.problem, guess_)) guess = guess_;
  }
  solve_from(in, guess);
  // An island that the new contacts do not change must keep its solution bit for bit. A convex
  // solver keeps it if it starts from this solution. A nonlinear solver must start from scratch.
  constexpr int kMaxRounds = 3;
  for (int i = 0; add_reached(in, d, i < kMaxRounds); ++i) {
    const StepStatistics before = statistics;
    solve_from(in, is_convex ? std::span<const double>(guess_) : std::span<const double>());
    add_work(before, &statistics);
  }
  has_solution_ = !out_.failed();
  if (out_.must_retake) return;
  report_failures(in, d);
  if (out_.report->status & kNotConverged)
    find_blocked_mocap(in, d, contacts_, &is_solved, &memories_.mocap);
}

/// @param guess initial velocities, in the solver's dofs; empty: those of the start
void ContactStep::solve_from(const StepInputs& in, std::span<const double> guess) {
  formulations::SolverOptions options = make_solver_options(in.options);
  options.momentum_factor = &contacts_.momentum_factor;
  solver_->solve(contacts_.problem, contacts_.islands, options, guess,
                 threads_ ? &*threads_ : nullptr, &contacts_.solution);
  write_statistics(contacts_.problem, contacts_.solution, out_.report);
  append_traces(contacts_.solution, &out_.report->trace);
}

/// Adds what the solution reaches to the problem; see StepGeometry::add_reached.
/// @return true if there is anything; the last solution is then the initial guess
bool ContactStep::add_reached(const StepInputs& in, mjData* d, bool wants_contacts) {
  const contact::ContactSolution& solution = contacts_.solution;
  qvel_.assign(in.model->nv, 0.0);
  copy_velocities(in, d, qvel_.data());
  if (!geometry_.add_reached(in, d, wants_contacts, qvel_)) return false;
  guess_.assign(solution.v.begin(), solution.v.end());
  normal_guess_.read(contacts_.problem, solution, d->ncon);
  assemble_chosen(in, d);
  normal_guess_.write(&contacts_.problem);
  return !out_.failed();
}

void ContactStep::report_failures(const StepInputs& in, const mjData* d) const {
  using contact::SolveStatus;
  for (int i = 0; i < contacts_.islands.size(); ++i) {
    const SolveStatus status = contacts_.solution.islands[i].status;
    // If round-off stopped the solver, the certificate decides whether the solution is accurate
    // enough.
    if (status == SolveStatus::kConverged || status == SolveStatus::kStagnated) continue;
    const std::string text = describe_failure(in, d, contacts_, i);
    if (status == SolveStatus::kNotFinite) return out_.fail(kNonFiniteSolution, text);
    if (status == SolveStatus::kNotPositiveDefinite) return out_.fail(kNotPositiveDefinite, text);
    if (status == SolveStatus::kTooLarge) return out_.fail(kTooLarge, text);
    out_.fail(kNotConverged, text);
  }
  for (const double v : contacts_.solution.v)
    if (!std::isfinite(v))
      return out_.fail(kNonFiniteSolution, describe_non_finite_velocities(in, contacts_));
}

/// Certifies the solution, writes it to MuJoCo's data, and checks the balance of momentum there.
/// @param was_ok false if a step or part before this one failed its certificate
void ContactStep::certify(const StepInputs& in, mjData* d, bool was_ok) {
  out_.report->certificate.ok = was_ok;
  if (part_.is_trial && !part_.has_certificate) {
    velocity_bound_ = 0;
    return;
  }
  const certificate::Certificate certificate =
      certify_solution(in, make_solver_options(in.options), &contacts_);
  certificate::keep_worst(certificate, &out_.report->certificate);
  error_bound_ = certificate.error_bound;
  velocity_bound_ = certificate.velocity_bound;
  certificate::Verdict agreement;
  if (!part_.is_trial) {
    if (!write_back(in, d, contacts_, &out_)) return;
    qvel_.assign(in.model->nv, 0.0);
    plant::MomentumCheck::Result momentum;
    out_.call_mujoco(d, [&] {
      plant::write_servo_forces(in.models.stages(), d, in.plant, geometry_.implicit(),
                                contacts_.problem, contacts_.solution, qvel_);
      momentum = check_momentum(in, d, geometry_.implicit(), nullptr, &contacts_);
    });
    agreement = out_.report_momentum(momentum);
    is_certified_ = certificate.ok && agreement.ok();
  }
  if (!certificate.ok)
    out_.fail_certificate(certificate.failed, describe_mass_ratio(in, contacts_));
  else if (!agreement.ok())
    out_.fail_certificate(agreement.failed());
}

/// Writes the report's contacts and patches, and its warnings.
void ContactStep::report(const StepInputs& in, mjData* d) {
  StepReport& report = *out_.report;
  const plant::ContactPatches& patches = geometry_.patches();
  const double dt = contacts_.problem.time_step;
  if (part_.has_jacobian) complete_rows(in, d, contacts_.problem, &contact_jacobian_, &out_);
  memories_.touch.restore_distances(&contacts_.problem);
  geometry_.restore_distances(&contacts_.problem);
  write_contacts(in.model, d, contacts_.problem, contacts_.solution, &report.contacts, &patches);
  if (out_.parts.patches || out_.has_taxels)
    write_patches(in.model, patches, contacts_.problem, contacts_.solution, &report.patches);
  warn_of_patch_limits(patches, &out_);
  warn_of_conflicts(in, d, contacts_, &out_);
  record_memories(in);
  warn_of_large_force(in, d, contacts_, &force_scratch_, &out_);
  record_penetration(in.model, report.contacts, dt, &memories_.penetration);
  warn_of_law_range(in, dt, &out_);
  warn_of_coupling(in, contacts_, &out_);
  if (in.models.has_sleep()) find_pair_bodies(in.model, d, contacts_.problem, &bodies_);
  geometry_.remove_idle(d);
}

/// Records the forces and stretches at the end of the step. Trees that sleep keep their stretches.
void ContactStep::record_memories(const StepInputs& in) {
  const auto made = memories_.touch.record(contacts_.problem, contacts_.solution);
  if (made && is_certified_) warn_of_made_energy(made->geoms, made->energy, &out_);
  const Sleep& sleep = memories_.sleep;
  const auto sleeps = [&](int A, int B) { return sleep.geom_sleeps(A) || sleep.geom_sleeps(B); };
  if (sleep.num_asleep() > 0) geometry_.manifolds()->keep(sleeps);
  if (!has_anchors(in.options.parameters)) return;
  Anchors& anchors = memories_.anchors;
  if (const auto creep = anchors.record(contacts_.problem, contacts_.solution))
    warn_of_creep(*creep, &out_);
  if (sleep.num_asleep() > 0) {
    anchors.keep(sleeps);
    anchors.keep_joints([&](int tree) { return sleep.tree_sleeps(tree); });
  }
  out_.report->anchors = anchors.summary();
}

void ContactStep::advance(const StepInputs& in, mjData* d) {
  sense_accelerations(in, d, &out_);
  memories_.sleep.hide_counts(d);
  out_.call_mujoco(d, [&] { mj_Euler(in.models.integrated(), d); });
  if (!out_.failed() && in.models.has_sleep()) finish_sleep(d);
}

/// Puts trees to sleep, and reports the sleep.
void ContactStep::finish_sleep(mjData* d) {
  const bool is_ok = is_certified_ && std::ranges::all_of(contacts_.solution.islands, &is_solved);
  Sleep& sleep = memories_.sleep;
  sleep.finish(d, {.problem = contacts_.problem,
                   .solution = contacts_.solution,
                   .error_bound = error_bound_,
                   .is_ok = is_ok,
                   .bodies = bodies_});
  // A run that goes on from a checkpoint does not know the forces at which trees fell asleep.
  if (sleep.num_asleep() > 0)
    memories_.touch.leave_out(
        [&](int A, int B) { return sleep.geom_sleeps(A) || sleep.geom_sleeps(B); });
  StepReport& report = *out_.report;
  report.statistics.num_asleep = sleep.num_asleep();
  report.certificate.sleep_bound = std::max(report.certificate.sleep_bound, sleep.bound());
}

}  // namespace stiction::sim
