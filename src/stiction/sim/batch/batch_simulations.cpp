#include "stiction/sim/batch/batch_simulations.hpp"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/base/thread_pool.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/sim/step/step_outputs.hpp"

namespace stiction::sim {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();

/// Calls MuJoCo.
/// @param f must not own objects with destructors
/// @throws Error if MuJoCo raises an error
template <class F>
void call_mujoco(F&& f) {
  plant::MuJoCoGuard guard;
  if (!guard.run(f))
    throw Error(ErrorCode::kMuJoCo, "Batch", std::string("MuJoCo: ") + guard.error());
}

/// Computes MuJoCo's stages of positions and of velocities, as mj_step1 does.
void calc_early_stages(const mjModel* m, mjData* d, int stage) {
  if (stage >= mjSTAGE_POS) {
    mj_fwdPosition(m, d);
    mj_sensorPos(m, d);
    if ((m->opt.enableflags & mjENBL_ENERGY) && !d->flg_energypos) mj_energyPos(m, d);
  }
  if (stage >= mjSTAGE_VEL) {
    mj_fwdVelocity(m, d);
    mj_sensorVel(m, d);
    if ((m->opt.enableflags & mjENBL_ENERGY) && !d->flg_energyvel) mj_energyVel(m, d);
  }
}

/// What the threads of a call ask while they step: whether the caller has interrupted the call, in
/// any of them. Signals reach only one thread.
struct Interrupt {
  bool (*is_interrupted)() = nullptr;
  std::atomic<bool>* of_call = nullptr;
};
thread_local Interrupt interrupt;

bool is_call_interrupted() {
  if (interrupt.is_interrupted && interrupt.is_interrupted()) *interrupt.of_call = true;
  return *interrupt.of_call;
}

}  // namespace

Batch::Simulations::OwnedBatch Batch::Simulations::make_batch(const mjModel* model, int num_sims,
                                                              const mjBatchConfig& config) {
  char error[500] = "";
  mjBatch* batch = nullptr;
  call_mujoco([&] { batch = mjb_makeBatch(model, num_sims, &config, error, sizeof error); });
  if (!batch) throw Error(ErrorCode::kMuJoCo, "Batch", std::string("MuJoCo: ") + error);
  return OwnedBatch(batch);
}

Batch::Simulations::Simulations(const mjModel* model, int num_sims, const mjBatchConfig& config,
                                const StepOptions& options, plant::MaterialTable materials)
    : pool(options, std::move(materials)), batch_(make_batch(model, num_sims, config)) {
  pool.set_interrupt(&is_call_interrupted);
  // Options and a model that cannot be stepped fail here, and not in the first step.
  const StepperPool::Lease stepper(&pool, this->model());
  const auto size = static_cast<std::size_t>(num_sims);
  memory_.resize(size);
  reports.error_bound.assign(size, kNoBound);
  reports.iterations.assign(size, 0);
  reports.status.assign(size, kOk);
  reports.message.resize(size);
  reports.num_warnings.assign(size * kNumWarningKinds, 0);
  reports.contacts.resize(size);
  reports.patches.resize(size);
}

int Batch::Simulations::apply(const int* ids, int num_ids, const Work& work) {
  struct Call {
    base::ThreadOrder begin, end;  // of the work of MuJoCo's threads
    Simulations* self;
    const Work* work;
  } call{.begin = {}, .end = {}, .self = this, .work = &work};
  check_ids(ids, num_ids);
  is_interrupted_ = false;
  warnings.fill({});
  for_each(ids, num_ids, [this](int sim, int) {
    reports.error_bound[sim] = kNoBound;
    reports.status[sim] = kOk;
    reports.message[sim].clear();
  });
  const auto run_one = [](const mjModel* m, mjData* d, int sim, void* argument) {
    // mju_error jumps to MuJoCo's batch, which restores the row. Nothing here has a destructor.
    Call& call = *static_cast<Call*>(argument);
    call.begin.acquire();
    const bool ok = call.self->run(*call.work, m, d, sim);
    char message[1000] = "";  // that of the reports is the caller's again after the release
    if (!ok) std::snprintf(message, sizeof message, "%s", call.self->reports.message[sim].c_str());
    call.end.release();
    if (!ok) mju_error("%s", message);
  };
  call.begin.release();
  int num_failed = 0;
  call_mujoco([&] { num_failed = mjb_apply(get(), ids, num_ids, run_one, &call, 1); });
  call.end.acquire();
  return num_failed;
}

/// Runs one simulation. Errors end here.
bool Batch::Simulations::run(const Work& work, const mjModel* m, mjData* d, int sim) noexcept {
  if (is_interrupted_)
    return fail(sim, kInterrupted, "the call was interrupted before this simulation began");
  interrupt = {is_interrupted, &is_interrupted_};
  try {
    const StepperPool::Lease member(&pool, m);
    member->stepper.set_model_stays(m == model());
    member->stepper.set_may_sleep(false);
    member->stepper.set_report_parts({.patches = keeps_patches, .timings = false});
    member->stepper.resume(memory_[sim].empty() ? member->fresh : memory_[sim]);
    if (!work(member->stepper, m, d, sim)) return false;
    member->stepper.get_state(&memory_[sim]);
    outputs.copy(d, sim);
    return true;
  } catch (const std::exception& e) {
    return fail(sim, kMuJoCoError, e.what());
  }
}

bool Batch::Simulations::fail(int sim, std::uint32_t status, const char* message) noexcept {
  reports.status[sim] |= status;
  reports.error_bound[sim] = contact::kInfinity;
  try {
    reports.message[sim] = message;
  } catch (const std::exception&) {  // out of memory: the status must do
  }
  return false;
}

int Batch::Simulations::reset(const int* ids, int num_ids, const int* keys) {
  check_ids(ids, num_ids);
  int num_failed = 0;
  call_mujoco([&] { num_failed = mjb_reset(get(), ids, num_ids, keys, mjSTAGE_NONE); });
  for_each(ids, num_ids, [this](int sim, int) {
    if (mjb_status(get())[sim] == 0) forget(sim);
  });
  return num_failed;
}

/// Forgets the last step of a simulation and its results.
void Batch::Simulations::forget(int sim) {
  memory_[sim].clear();
  outputs.clear(sim);
  reports.error_bound[sim] = kNoBound;
  reports.iterations[sim] = 0;
  reports.status[sim] = kOk;
  reports.message[sim].clear();
  reports.contacts[sim] = {};
  reports.patches[sim] = {};
}

void Batch::Simulations::check_ids(const int* ids, int num_ids) const {
  int least = 0;
  for (int i = 0; ids && i < num_ids; ++i) {
    if (ids[i] < least || ids[i] >= num_sims())
      throw Error(ErrorCode::kInvalidValue, "ids",
                  "has " + std::to_string(ids[i]) + ", must be ascending and in 0.." +
                      std::to_string(num_sims() - 1));
    least = ids[i] + 1;
  }
}

/// Keeps the report of a step.
/// @return true if the step succeeded
bool Batch::Simulations::keep(int sim, const StepReport& report) {
  // fmax passes over the NaN before the first step.
  reports.error_bound[sim] = std::fmax(reports.error_bound[sim], report.certificate.error_bound);
  reports.iterations[sim] = report.statistics.iterations;
  reports.status[sim] |= report.status;
  if (report.status != kOk) reports.message[sim] = report.message;
  if (keeps_contacts) reports.contacts[sim] = report.contacts;
  if (keeps_patches) reports.patches[sim] = report.patches;
  if (report.num_warnings > 0) keep_warnings(sim, report);
  if (report.status & kInterrupted) is_interrupted_ = true;
  return !is_failure(report.status, pool.options().on_failure);
}

bool Batch::Simulations::calc_stages(int stage, Stepper& stepper, const mjModel* m, mjData* d,
                                     int sim) {
  if (stage == mjSTAGE_NONE) return true;
  if (stage >= mjSTAGE_ACC) return keep(sim, stepper.forward(d)) && calc_body_forces(m, d, sim);
  plant::MuJoCoGuard guard;
  return guard.run([&] { calc_early_stages(m, d, stage); }) ||
         fail(sim, kMuJoCoError, (std::string("MuJoCo: ") + guard.error()).c_str());
}

bool Batch::Simulations::step(int num_steps, Stepper& stepper, const mjModel* m, mjData* d,
                              int sim) {
  return keep(sim, stepper.step(d, num_steps)) && calc_body_forces(m, d, sim);
}

bool Batch::Simulations::calc_body_forces(const mjModel* m, mjData* d, int sim) {
  if (!records_body_forces && !outputs.has_body_forces()) return true;
  plant::MuJoCoGuard guard;
  return guard.run([&] { mj_rnePostConstraint(m, d); }) ||
         fail(sim, kMuJoCoError, (std::string("MuJoCo: ") + guard.error()).c_str());
}

void Batch::Simulations::keep_warnings(int sim, const StepReport& report) {
  const std::scoped_lock lock(warnings_mutex_);
  for (int kind = 0; kind < kNumWarningKinds; ++kind) {
    const WarningReport& from = report.warnings[kind];
    if (from.count == 0) continue;
    reports.num_warnings[sim * kNumWarningKinds + kind] += from.count;
    BatchWarning& first = warnings[kind];
    if (first.sim < 0 || sim < first.sim) first = {sim, from.text};
  }
}

}  // namespace stiction::sim
