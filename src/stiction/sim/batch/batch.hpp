#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mujoco/mjbatch.h>
#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Reports of the last call on each simulation of a batch; entry i belongs to simulation i.
struct BatchReports {
  /// The largest of the call's steps [sqrt(J)]; NaN if it took none; infinity if it failed.
  std::vector<double> error_bound;
  std::vector<int> iterations;          // of the last step
  std::vector<std::uint32_t> status;    // bits of StepStatus
  std::vector<std::string> message;     // empty if status is kOk
  std::vector<int> num_warnings;        // num_sims x kNumWarningKinds, since the batch was made
  std::vector<ContactReport> contacts;  // of the last step; empty unless the batch keeps them
  std::vector<PatchReport> patches;     // likewise
};

/// The first warning of a kind in a call, by the order of simulations.
struct BatchWarning {
  int sim = -1;  // -1: none
  WarningText text;
};

/// Steps many simulations of one model on a thread pool, each as a Stepper steps one mjData.
///
/// MuJoCo's batch, of mjbatch.h, keeps the simulations: each is a row of mjSTATE_INTEGRATION, which
/// a thread loads into its mjData for a call. Beside the row, this class keeps what a stepper
/// remembers of the last step (Stepper::get_state). The results of a simulation thus have the same
/// bits as those of a loop with a stepper and an mjData of its own, for any number of threads.
///
/// The functions here replace mjb_step, mjb_forward, mjb_reset, mjb_rollout and mjb_output; they
/// have the same arguments and results. All others of mjbatch.h take get(). A simulation in which a
/// step fails keeps the row that it had before the call.
class Batch {
 public:
  /// @param model  is copied
  /// @param config threads, and whether each simulation has an mjData of its own
  /// @throws Error for options out of range and models that are not supported
  Batch(const mjModel* model, int num_sims, const mjBatchConfig& config, const StepOptions& options,
        plant::MaterialTable materials = {});
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  /// Takes num_steps steps, then computes the stages up to `stage` at the new state.
  /// All functions that take ids throw Error if one is out of range or not ascending.
  /// @param ids   ascending; null: all simulations
  /// @param stage mjtStage; mjSTAGE_ACC is Stepper::forward
  /// @return the number of simulations that failed
  int step(const int* ids, int num_ids, int num_steps, int stage);
  /// Computes the stages up to `stage`.
  int forward(const int* ids, int num_ids, int stage);
  /// Resets to the model's defaults, or to keyframes, and computes the stages up to `stage`. The
  /// simulations then remember no step, and have no results of one: bound fields are 0 until a
  /// stage computes them.
  /// @param keys one per simulation of the call, -1: defaults; null: all are defaults
  int reset(const int* ids, int num_ids, const int* keys, int stage);
  /// Takes num_steps steps, and sets controls before each and records fields after each. A
  /// simulation in which a step fails repeats its last records.
  /// @param control num_ids x num_steps x mj_stateSize(control_spec); null: controls stay
  /// @throws Error if a record names no field
  int rollout(const int* ids, int num_ids, int num_steps, const mjtNum* control, int control_spec,
              std::span<const mjBatchRecord> records);

  /// Returns an array over a field of mjData that every call copies from now on, num_sims times its
  /// size; 0 before. It takes the place of mjb_output, whose arrays mjb_apply does not fill. An
  /// empty span: there is no such field. If it is `cacc`, `cfrc_int` or `cfrc_ext`, each step and
  /// forward of all the stages computes these forces, by mj_rnePostConstraint.
  std::span<std::byte> bind(const std::string& name);

  /// Call it after mjb_setModels, mjb_expand and mjb_setConst: models may have other addresses.
  void forget_models();
  /// Sets whether reports() keeps contacts and patches. It keeps none at first.
  void keep_contacts(bool keeps);
  void keep_patches(bool keeps);
  /// Stepper::set_interrupt of all steppers. If a step of any thread is interrupted, those of the
  /// others are, too. Of simulations that the call has not begun then, none begins.
  void set_interrupt(bool (*is_interrupted)());

  /// Returns a sentence for each setting without effect, as Stepper::ignored_settings does.
  std::vector<std::string> ignored_settings() const;

  mjBatch* get() const;
  const StepOptions& options() const;
  const BatchReports& reports() const;
  /// The warnings of the last call, by kind.
  const std::array<BatchWarning, kNumWarningKinds>& warnings() const;

 private:
  class Simulations;
  std::unique_ptr<Simulations> simulations_;
};

}  // namespace stiction::sim
