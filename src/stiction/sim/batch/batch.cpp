#include "stiction/sim/batch/batch.hpp"

#include <cstddef>
#include <utility>

#include "stiction/base/error.hpp"
#include "stiction/plant/mujoco/data_arrays.hpp"
#include "stiction/sim/batch/batch_recorder.hpp"
#include "stiction/sim/batch/batch_simulations.hpp"

namespace stiction::sim {

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
