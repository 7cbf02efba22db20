#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "stiction/sim/batch/batch.hpp"
#include "stiction/sim/batch/batch_outputs.hpp"
#include "stiction/sim/batch/stepper_pool.hpp"
#include "stiction/sim/stepper.hpp"

namespace stiction::sim {

/// The simulations of a batch: MuJoCo's rows, what a stepper remembers of each, and what the last
/// call reported. Runs the work of a call on MuJoCo's threads.
class Batch::Simulations {
 public:
  /// The work of a call on one simulation: takes steps, and passes the report of each to `keep`.
  /// Refers to a function of the same arguments, which must outlive it, and allocates nothing.
  class Work {
   public:
    template <class F>
    Work(const F& function)
        : function_(&function),
          call_([](const void* f, Stepper& stepper, const mjModel* m, mjData* d, int sim) {
            return (*static_cast<const F*>(f))(stepper, m, d, sim);
          }) {}
    /// @return true if the simulation succeeded
    bool operator()(Stepper& stepper, const mjModel* m, mjData* d, int sim) const {
      return call_(function_, stepper, m, d, sim);
    }

   private:
    const void* function_;
    bool (*call_)(const void*, Stepper&, const mjModel*, mjData*, int);
  };

  /// @throws Error for options out of range and models that are not supported
  Simulations(const mjModel* model, int num_sims, const mjBatchConfig& config,
              const StepOptions& options, plant::MaterialTable materials);

  /// Calls work(stepper, model, data, sim) for the simulations of a call, on all threads.
  /// @return the number of simulations that failed
  /// @throws Error if an id is wrong
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
  bool step(int num_steps, Stepper& stepper, const mjModel* m, mjData* d, int sim);
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
  struct DeleteBatch {
    void operator()(mjBatch* batch) const { mjb_deleteBatch(batch); }
  };
  using OwnedBatch = std::unique_ptr<mjBatch, DeleteBatch>;

  static OwnedBatch make_batch(const mjModel* model, int num_sims, const mjBatchConfig& config);
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

}  // namespace stiction::sim
