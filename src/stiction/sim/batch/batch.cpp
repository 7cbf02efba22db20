#include "stiction/sim/batch/batch.hpp"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>
#include <string>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/base/thread_pool.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/sim/batch/batch_fields.hpp"
#include "stiction/sim/batch/stepper_pool.hpp"
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

/// The interrupt of a call, which its threads read while they step. Signals reach only one thread.
struct Interrupt {
  bool (*is_interrupted)() = nullptr;
  std::atomic<bool>* of_call = nullptr;
};
thread_local Interrupt interrupt;

bool is_call_interrupted() {
  if (interrupt.is_interrupted && interrupt.is_interrupted()) *interrupt.of_call = true;
  return *interrupt.of_call;
}

struct DeleteBatch {
  void operator()(mjBatch* batch) const { mjb_deleteBatch(batch); }
};
using OwnedBatch = std::unique_ptr<mjBatch, DeleteBatch>;

OwnedBatch make_batch(const mjModel* model, int num_sims, const mjBatchConfig& config) {
  char error[500] = "";
  mjBatch* batch = nullptr;
  call_mujoco([&] { batch = mjb_makeBatch(model, num_sims, &config, error, sizeof error); });
  if (!batch) throw Error(ErrorCode::kMuJoCo, "Batch", std::string("MuJoCo: ") + error);
  return OwnedBatch(batch);
}

}  // namespace

/// The simulations of a batch: MuJoCo's rows, the memory of a stepper for each, and the reports of
/// the last call. Runs the work of a call on MuJoCo's threads.
class Batch::Simulations {
 public:
  /// @throws Error for options out of range and models that are not supported
  Simulations(const mjModel* model, int num_sims, const mjBatchConfig& config,
              const StepOptions& options, plant::MaterialTable materials);

  /// Calls work(stepper, model, data, sim) for the simulations of a call, on all threads. It
  /// returns true if the simulation succeeded.
  /// @return the number of simulations that failed
  /// @throws Error if an id is wrong
  template <class Work>
  int apply(const int* ids, int num_ids, const Work& work);
  /// Resets rows, and forgets the last step of those that were reset.
  /// @param keys as in Batch::reset
  /// @return the number of simulations that failed
  /// @throws Error if an id is wrong
  int reset(const int* ids, int num_ids, const int* keys);

  /// Computes the stages up to `stage` at the present state.
  /// @return true if this succeeded
  bool calc_stages(int stage, Stepper& stepper, const mjModel* m, mjData* d, int sim);
  /// Takes steps, and keeps their report.
  /// @return true if this succeeded
  bool step(int num_steps, Stepper& stepper, const mjModel* m, mjData* d, int sim) {
    return keep(sim, stepper.step(d, num_steps)) && calc_body_forces(m, d, sim);
  }
  /// @throws Error unless the ids are ascending and in range
  void check_ids(const int* ids, int num_ids) const;

  mjBatch* get() const { return batch_.get(); }
  const mjModel* model() const { return mjb_model(get()); }
  int num_sims() const { return mjb_nsim(get()); }
  /// Calls f(sim, place in the call).
  template <class F>
  void for_each(const int* ids, int num_ids, F&& f) const {
    const int count = ids ? num_ids : num_sims();
    for (int i = 0; i < count; ++i) f(ids ? ids[i] : i, i);
  }

  StepperPool pool;
  BatchOutputs outputs;
  BatchReports reports;
  std::array<BatchWarning, kNumWarningKinds> warnings;
  bool keeps_contacts = false, keeps_patches = false;
  bool records_body_forces = false;
  bool (*is_interrupted)() = nullptr;

 private:
  template <class Work>
  bool run(const Work& work, const mjModel* m, mjData* d, int sim) noexcept;
  bool fail(int sim, std::uint32_t status, const char* message) noexcept;
  bool keep(int sim, const StepReport& report);
  void keep_warnings(int sim, const StepReport& report);
  bool calc_body_forces(const mjModel* m, mjData* d, int sim);
  void forget(int sim);

  OwnedBatch batch_;
  std::vector<std::vector<std::uint64_t>> memory_;  // of each simulation; empty: no step yet
  std::atomic<bool> is_interrupted_ = false;
  std::mutex warnings_mutex_;
};

// ---- the work of a call -------------------------------------------------------------------------

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

template <class Work>
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
template <class Work>
bool Batch::Simulations::run(const Work& work, const mjModel* m, mjData* d, int sim) noexcept {
  if (is_interrupted_)
    return fail(sim, kInterrupted, "the call was interrupted before this simulation began");
  interrupt = {is_interrupted, &is_interrupted_};
  try {
    const StepperPool::Lease member(&pool, m);
    member->stepper.set_model_is_constant(m == model());
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

// ---- the functions of a caller ------------------------------------------------------------------

Batch::Batch(const mjModel* model, int num_sims, const mjBatchConfig& config,
             const StepOptions& options, plant::MaterialTable materials)
    : simulations_(
          std::make_unique<Simulations>(model, num_sims, config, options, std::move(materials))) {}
Batch::~Batch() = default;

int Batch::step(const int* ids, int num_ids, int num_steps, int stage) {
  Simulations& all = *simulations_;
  return all.apply(ids, num_ids, [&](Stepper& stepper, const mjModel* m, mjData* d, int sim) {
    if (!all.step(num_steps, stepper, m, d, sim)) return false;
    return all.calc_stages(stage, stepper, m, d, sim);
  });
}

int Batch::forward(const int* ids, int num_ids, int stage) {
  Simulations& all = *simulations_;
  return all.apply(ids, num_ids, [&](Stepper& stepper, const mjModel* m, mjData* d, int sim) {
    return all.calc_stages(stage, stepper, m, d, sim);
  });
}

int Batch::reset(const int* ids, int num_ids, const int* keys, int stage) {
  const int num_failed = simulations_->reset(ids, num_ids, keys);
  if (num_failed > 0 || stage == mjSTAGE_NONE) return num_failed;
  return forward(ids, num_ids, stage);
}

int Batch::rollout(const int* ids, int num_ids, int num_steps, const mjtNum* control,
                   int control_spec, std::span<const mjBatchRecord> records) {
  Simulations& all = *simulations_;
  const mjModel* model = all.model();
  for (const mjBatchRecord& record : records) {
    if (!record.field) continue;
    if (!plant::find_data_field(model, record.field))
      throw Error(ErrorCode::kUnknownName, "record",
                  "mjData has no field '" + std::string(record.field) + "' that can be recorded");
    all.records_body_forces |= is_body_force(record.field);
  }
  all.check_ids(ids, num_ids);
  std::vector<int> place(static_cast<std::size_t>(all.num_sims()));
  all.for_each(ids, num_ids, [&](int sim, int i) { place[sim] = i; });
  const std::size_t num_controls = control ? mj_stateSize(model, control_spec) : 0;

  return all.apply(ids, num_ids, [&](Stepper& stepper, const mjModel* m, mjData* d, int sim) {
    std::vector<BatchRecorder> recorders;
    for (const mjBatchRecord& record : records)
      recorders.emplace_back(record, m, place[sim], num_steps);
    const mjtNum* next = control + num_controls * num_steps * place[sim];
    bool ok = true;
    for (int step = 0; step < num_steps; ++step, next += num_controls) {
      if (ok) {
        if (control) mj_setState(m, d, next, control_spec);
        ok = all.step(1, stepper, m, d, sim);
      }
      for (const BatchRecorder& recorder : recorders) {
        if (ok || step == 0)
          recorder.write(m, d, step);
        else
          recorder.repeat(step);
      }
    }
    return ok;
  });
}

std::span<std::byte> Batch::bind(const std::string& name) {
  Simulations& all = *simulations_;
  return all.outputs.bind(all.model(), all.num_sims(), name);
}
void Batch::forget_models() { simulations_->pool.clear(); }
void Batch::keep_contacts(bool keeps) { simulations_->keeps_contacts = keeps; }
void Batch::keep_patches(bool keeps) { simulations_->keeps_patches = keeps; }
void Batch::set_interrupt(bool (*is_interrupted)()) {
  simulations_->is_interrupted = is_interrupted;
}
std::vector<std::string> Batch::ignored_settings() const {
  const StepperPool::Lease member(&simulations_->pool, simulations_->model());
  member->stepper.set_may_sleep(false);
  return member->stepper.ignored_settings();
}
mjBatch* Batch::get() const { return simulations_->get(); }
const StepOptions& Batch::options() const { return simulations_->pool.options(); }
const BatchReports& Batch::reports() const { return simulations_->reports; }
const std::array<BatchWarning, kNumWarningKinds>& Batch::warnings() const {
  return simulations_->warnings;
}

}  // namespace stiction::sim
