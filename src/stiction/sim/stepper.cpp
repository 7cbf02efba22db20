#include "stiction/sim/stepper.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <vector>

#include "stiction/base/error.hpp"
#include "stiction/base/thread_pool.hpp"
#include "stiction/contact/certificate.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/formulations/convex_solver.hpp"
#include "stiction/plant/constraint_rows.hpp"
#include "stiction/plant/contact_rows.hpp"
#include "stiction/plant/dynamics.hpp"
#include "stiction/plant/implicit_forces.hpp"
#include "stiction/plant/model.hpp"
#include "stiction/plant/model_check.hpp"
#include "stiction/plant/momentum_check.hpp"
#include "stiction/plant/mujoco_guard.hpp"
#include "stiction/plant/mujoco_solution.hpp"
#include "stiction/plant/write_back.hpp"
#include "stiction/sim/ignored_settings.hpp"
#include "stiction/sim/report_writer.hpp"

namespace stiction::sim {
namespace {

class Stopwatch {
 public:
  /// Microseconds since the last call, or since construction.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double us = std::chrono::duration<double, std::micro>(now - last_).count();
    last_ = now;
    return us;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

/// Scratch of the step, in the order of its use.
class Stepper::Workspace {
 public:
  Workspace(const mjModel* model, const StepOptions& options, plant::MaterialTable materials)
      : model_(model),
        options_(options),
        materials_(materials.geoms.empty() ? plant::make_default_materials(model)
                                           : std::move(materials)),
        plant_(model),
        solver_(formulations::make_contact_solver(options.contact_model)) {
    if (options.num_threads > 1) threads_.emplace(options.num_threads);
  }

  const StepReport& step(mjData* d, int num_steps) noexcept;

  const mjModel* model_;
  StepOptions options_;
  plant::MaterialTable materials_;
  StepReport report_;

 private:
  void step_once(mjData* d);
  void step_convex(mjData* d);
  void step_mujoco(mjData* d);
  void mirror_model();
  void calc_smooth_forces(mjData* d);
  void assemble(mjData* d);
  void solve();
  void certify(mjData* d);
  void report_mujoco_contacts(mjData* d);

  /// Runs calls to MuJoCo; its errors and full buffers become the report's status.
  template <class F>
  void call_mujoco(mjData* d, F&& f);
  void fail(std::uint32_t status, std::string message);
  bool failed() const { return report_.status != kOk && !may_go_on(); }
  /// True if all that is wrong is what keep_best accepts.
  bool may_go_on() const {
    return options_.on_failure == OnFailure::keep_best &&
           (report_.status & ~(kNotConverged | kCertificateFailed)) == 0;
  }

  plant::Model plant_;
  mjModel mirror_;        // the caller's model with our options; shares its arrays
  const mjModel* stage_;  // what MuJoCo's functions get: the caller's model where it will do
  plant::ConstraintRows constraint_rows_;
  plant::ImplicitForces implicit_;
  contact::ContactProblem problem_;
  contact::MomentumFactor momentum_factor_;
  contact::Islands islands_;
  contact::ContactSolution solution_;
  std::unique_ptr<formulations::ContactSolver> solver_;
  contact::Certifier certifier_;
  contact::Certificate certificate_;
  plant::MomentumCheck momentum_check_;
  std::vector<mjtNum> saved_state_;
  std::optional<base::ThreadPool> threads_;
};

Stepper::Stepper(const mjModel* model, const StepOptions& options, plant::MaterialTable materials) {
  validate(options);
  plant::check_model(model);
  workspace_ = std::make_unique<Workspace>(model, options, std::move(materials));
}
Stepper::~Stepper() = default;
Stepper::Stepper(Stepper&&) noexcept = default;
Stepper& Stepper::operator=(Stepper&&) noexcept = default;

const StepReport& Stepper::step(mjData* data, int num_steps) noexcept {
  return workspace_->step(data, num_steps);
}
void Stepper::step(mjData* data, int num_steps, StepReport* report) noexcept {
  std::swap(workspace_->report_, *report);
  (void)workspace_->step(data, num_steps);
  std::swap(workspace_->report_, *report);
}
const mjModel* Stepper::model() const { return workspace_->model_; }
const StepOptions& Stepper::options() const { return workspace_->options_; }
const plant::MaterialTable& Stepper::materials() const { return workspace_->materials_; }
std::vector<std::string> Stepper::ignored_settings() const {
  return find_ignored_settings(workspace_->model_, workspace_->materials_, workspace_->options_);
}
double Stepper::time_step() const {
  return workspace_->options_.time_step > 0 ? workspace_->options_.time_step
                                            : workspace_->model_->opt.timestep;
}

void Stepper::Workspace::fail(std::uint32_t status, std::string message) {
  report_.status |= status;
  report_.message = std::move(message);
}

const StepReport& Stepper::Workspace::step(mjData* d, int num_steps) noexcept {
  clear_report(&report_);
  try {
    for (int i = 0; i < num_steps && !failed(); ++i) step_once(d);
  } catch (const std::exception& e) {  // out of memory
    fail(kMuJoCoError, e.what());
  }
  report_.time = d->time;
  return report_;
}

void Stepper::Workspace::step_once(mjData* d) {
  Stopwatch clock;
  const plant::StateFault fault = plant::check_state(model_, d);
  if (fault.array) {
    char text[160];
    std::snprintf(text, sizeof text, "%s[%d] is %g at time %g; the step was not made", fault.array,
                  fault.index, fault.value, d->time);
    return fail(fault.is_state ? kNonFiniteState : kNonFiniteInput, text);
  }
  mirror_model();
  if (options_.contact_model == contact::ContactModel::mujoco)
    step_mujoco(d);
  else
    step_convex(d);
  report_.timings.total = clock.lap();
  if (!failed()) ++report_.num_steps;
}

/// One step: MuJoCo's position and velocity stages, our contact in place of its constraint solver,
/// its sensors and its advance. The state changes in the last call only.
void Stepper::Workspace::step_convex(mjData* d) {
  Stopwatch clock;
  StepTimings& us = report_.timings;
  call_mujoco(d, [&] {
    mj_fwdKinematics(stage_, d);
    mj_makeM(stage_, d);
    mj_factorM(stage_, d);
  });
  us.kinematics = clock.lap();
  if (failed()) return;

  call_mujoco(d, [&] { mj_collision(stage_, d); });
  us.collision = clock.lap();
  if (failed()) return;

  calc_smooth_forces(d);
  us.kinematics += clock.lap();
  if (failed()) return;

  assemble(d);
  us.assembly = clock.lap();
  if (failed()) return;

  solve();
  us.solve = clock.lap();
  if (failed()) return;

  certify(d);
  us.certificate = clock.lap();
  if (failed()) return;

  write_contacts(model_, d, problem_, solution_, &report_.contacts);
  call_mujoco(d, [&] {
    d->flg_rnepost = 0;
    mj_sensorAcc(stage_, d);
    mj_Euler(&mirror_, d);
  });
  us.finish += clock.lap();
}

void Stepper::Workspace::mirror_model() {
  mirror_ = *model_;
  if (options_.time_step > 0) mirror_.opt.timestep = options_.time_step;
  stage_ = mirror_.opt.timestep == model_->opt.timestep ? model_ : &mirror_;
  if (options_.contact_model == contact::ContactModel::mujoco) return;

  // Our step is one of its own: what MuJoCo's integrators would add must not come on top. Callbacks
  // know the caller's model by its address, so it is passed on wherever it makes no difference.
  if (model_->opt.integrator == mjINT_DISCRETE || (model_->opt.enableflags & mjENBL_SLEEP))
    stage_ = &mirror_;
  mirror_.opt.integrator = mjINT_EULER;
  mirror_.opt.disableflags |= mjDSBL_EULERDAMP;
  mirror_.opt.enableflags &= ~mjENBL_SLEEP;
}

template <class F>
void Stepper::Workspace::call_mujoco(mjData* d, F&& f) {
  const int full = d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number;
  const std::size_t pstack = d->pstack, pbase = d->pbase;
  plant::MuJoCoGuard guard;
  if (!guard.run(f)) {
    d->pstack = pstack;
    d->pbase = pbase;
    fail(kMuJoCoError, std::string("MuJoCo: ") + guard.error());
  }
  if (guard.num_warnings() > 0) {
    report_.num_warnings += guard.num_warnings();
    report_.warning = guard.warning();
  }
  if (d->warning[mjWARN_CONTACTFULL].number + d->warning[mjWARN_CNSTRFULL].number != full)
    fail(kBufferFull, "contacts or constraints do not fit in mjData; enlarge it with "
                      "<size memory=\"...\"/>");
}

/// Constraint rows, sensors of position and velocity, and all forces but those of constraints.
void Stepper::Workspace::calc_smooth_forces(mjData* d) {
  constraint_rows_.reserve(d);
  call_mujoco(d, [&] {
    constraint_rows_.make_constraints(stage_, d);
    // Sensors of either energy are read at this stage; stale flags would keep the last step's value.
    d->flg_energypos = d->flg_energyvel = 0;
    mj_sensorPos(stage_, d);
    const bool wants_energy = model_->opt.enableflags & mjENBL_ENERGY;
    if (!d->flg_energypos) {
      if (wants_energy)
        mj_energyPos(stage_, d);
      else
        d->energy[0] = d->energy[1] = 0;
    }
    mj_fwdVelocity(stage_, d);
    mj_sensorVel(stage_, d);
    if (wants_energy && !d->flg_energyvel) mj_energyVel(stage_, d);
    if (mjcb_control && !(model_->opt.disableflags & mjDSBL_ACTUATION)) mjcb_control(model_, d);
    mj_fwdActuation(stage_, d);
    mj_fwdAcceleration(stage_, d);
  });
}

void Stepper::Workspace::assemble(mjData* d) {
  problem_.clear(mirror_.opt.timestep);
  implicit_.calc(stage_, d, plant_);
  plant::add_blocks(stage_, d, plant_, implicit_, &problem_);
  if (!(model_->opt.disableflags & (mjDSBL_CONTACT | mjDSBL_CONSTRAINT)))
    plant::add_contacts(stage_, d, plant_, materials_, &problem_);
  constraint_rows_.add_rows(
      stage_, d, plant_,
      {options_.parameters.stiction_tolerance, options_.parameters.friction_regularization},
      &problem_);
  plant::add_coupling_rows(d, plant_, implicit_, &problem_);

  constexpr double kNearRigidFactor = 1;  // of contacts without a stiffness of their own
  if (!momentum_factor_.calc_derived(kNearRigidFactor, &problem_))
    return fail(kNotPositiveDefinite,
                "the joint-space inertia is not positive definite; give every moving body mass, or "
                "its joints armature");
  islands_.find(problem_);
}

void Stepper::Workspace::solve() {
  formulations::SolverOptions options;
  options.parameters = options_.parameters;
  options.relative_tolerance = options_.tolerance;
  options.max_iterations = options_.max_iterations;
  solver_->solve(problem_, islands_, options, {}, threads_ ? &*threads_ : nullptr, &solution_);
  write_statistics(problem_, solution_, &report_);

  for (const contact::IslandStatistics& island : solution_.islands) {
    if (island.status == contact::SolveStatus::kConverged) continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "an island of %d dofs and %d contacts stopped after %d iterations at a relative "
                  "residual of %.1e",
                  island.num_dofs, island.num_contacts, island.iterations,
                  island.scale > 0 ? island.residual / island.scale : island.residual);
    switch (island.status) {
      case contact::SolveStatus::kNotFinite: return fail(kNonFiniteSolution, text);
      case contact::SolveStatus::kNotPositiveDefinite: return fail(kNotPositiveDefinite, text);
      // Stopped by rounding: the certificate decides whether nothing else is left.
      case contact::SolveStatus::kStagnated: break;
      default: fail(kNotConverged, text); break;
    }
  }
  for (const double v : solution_.v)
    if (!std::isfinite(v)) return fail(kNonFiniteSolution, "the velocities are not finite");
}

/// Proves the solution, and writes it where the balance of momentum by MuJoCo's matrices reads it.
void Stepper::Workspace::certify(mjData* d) {
  constexpr double kAbsoluteTolerance = formulations::SolverOptions{}.absolute_tolerance;
  certificate_ =
      certifier_.certify(problem_, &momentum_factor_, islands_, options_.contact_model, options_.parameters,
                         options_.tolerance, kAbsoluteTolerance, solution_);
  keep_worst(certificate_, &report_.certificate);
  if (!plant::write_back(stage_, d, plant_, problem_, solution_,
                         certifier_.constraint_impulse()))
    return fail(kBufferFull, "the constraint forces do not fit in mjData's arena; enlarge it with "
                             "<size memory=\"...\"/>");

  plant::MomentumCheck::Result momentum;
  call_mujoco(d, [&] {
    momentum = momentum_check_.calc(stage_, d, plant_, implicit_, problem_, solution_,
                                    certifier_.imbalance());
  });
  report_.momentum_error = std::max(report_.momentum_error, momentum.residual);
  // Two computations of one imbalance: their difference is round-off, or an error in one of them.
  constexpr double kRoundOff = 1e-9;
  const bool balanced = momentum.mismatch <= kRoundOff * (1 + momentum.scale);
  if (!certificate_.ok || !balanced) {
    report_.certificate.ok = false;
    char text[160];
    std::snprintf(text, sizeof text,
                  "the step does not pass its certificate: relative residual %.1e, momentum error "
                  "%.1e sqrt(J), impulse error %.1e N s",
                  certificate_.relative_residual, momentum.residual, certificate_.impulse_error);
    fail(kCertificateFailed, text);
  }
}

/// MuJoCo's own step, with its contacts in our report.
void Stepper::Workspace::step_mujoco(mjData* d) {
  constexpr int kState = mjSTATE_INTEGRATION;
  saved_state_.resize(mj_stateSize(stage_, kState));
  mj_getState(stage_, d, saved_state_.data(), kState);
  const int bad = d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQVEL].number +
                  d->warning[mjWARN_BADQPOS].number;
  Stopwatch clock;
  call_mujoco(d, [&] { mj_step(stage_, d); });
  report_.timings.solve = clock.lap();
  if (d->warning[mjWARN_BADQACC].number + d->warning[mjWARN_BADQVEL].number +
          d->warning[mjWARN_BADQPOS].number !=
      bad)
    fail(kNonFiniteSolution, "mj_step found accelerations that are not finite");
  if (report_.status != kOk) {
    mj_setState(stage_, d, saved_state_.data(), kState);
    return;
  }
  report_mujoco_contacts(d);
  report_.timings.finish = clock.lap();
}

void Stepper::Workspace::report_mujoco_contacts(mjData* d) {
  problem_.clear(mirror_.opt.timestep);
  for (const plant::Model::Block& block : plant_.blocks()) problem_.add_block(block.num_dofs);
  plant::add_contacts(stage_, d, plant_, materials_, &problem_);
  plant::to_solver_dofs(d, plant_, d->qvel, problem_.v0.data());
  plant::read_mujoco_solution(stage_, d, problem_, &solution_);
  write_contacts(model_, d, problem_, solution_, &report_.contacts);
  write_statistics(problem_, solution_, &report_);
  const int num_islands = std::clamp(d->nisland, 1, mjNISLAND);
  for (int i = 0; i < num_islands; ++i) {
    report_.statistics.iterations += d->solver_niter[i];
    report_.statistics.max_iterations =
        std::max(report_.statistics.max_iterations, d->solver_niter[i]);
  }
}

}  // namespace stiction::sim
