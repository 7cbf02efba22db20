#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <mujoco/mujoco.h>

#include "stiction/base/work_limits.hpp"
#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/mocap/mocap_motion.hpp"
#include "stiction/plant/model/model.hpp"
#include "stiction/plant/mujoco/element_names.hpp"
#include "stiction/plant/mujoco/mujoco_guard.hpp"
#include "stiction/sim/memory/anchors.hpp"
#include "stiction/sim/memory/lagged_impulses.hpp"
#include "stiction/sim/memory/limit_memory.hpp"
#include "stiction/sim/memory/mocap_jams.hpp"
#include "stiction/sim/memory/penetration_memory.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/report/step_report.hpp"
#include "stiction/sim/report/taxel_reader.hpp"
#include "stiction/sim/sleep/sleep.hpp"
#include "stiction/sim/step/stopwatch.hpp"

namespace stiction::sim {

/// True if a step with this status has failed and is not taken.
bool is_failure(std::uint32_t status, OnFailure on_failure);

/// The data that every kind of step uses: the model in its forms, the options, and the report, in
/// which a stage records its failure.
class StepContext {
 public:
  StepContext(const mjModel* model, const StepOptions& options, plant::MaterialTable materials);

  /// Reads the values that the caller may have changed in the model. Call it before each step.
  void update();

  /// True if trees may sleep in this step.
  bool has_sleep() const { return mirror.opt.enableflags & mjENBL_SLEEP; }

  /// The argument of MuJoCo's functions that make constraint rows. Its time step limits their
  /// stiffness, so it is the reference time step, if there is one.
  const mjModel* rows_stage() const { return reference_time_step > 0 ? &reference : stage; }

  /// Starts the clock of the stages, if the report has their times.
  void start_clock() { clock = Stopwatch(report_parts.timings); }

  /// Runs calls to MuJoCo, whose errors, warnings and full buffers go to the report.
  /// @param f must own nothing that has a destructor, because an error of MuJoCo jumps out of it
  template <class F>
  void call_mujoco(mjData* d, F&& f) {
    const MuJoCoState before(d);
    plant::MuJoCoGuard guard;
    const bool ok = guard.run(f);
    finish_call(d, before, guard, ok);
  }

  /// Adds warnings of the kind of `warning`, of which the last one tells these facts.
  void warn(const Warning& warning, WarningFacts facts = {}, int count = 1);
  /// Reports a failure.
  /// @param status bits of StepStatus
  void fail(std::uint32_t status, std::string message);
  /// True if the step must end here.
  bool failed() const;

  const mjModel* model;  // the caller's
  StepOptions options;   // AdvanceSettings changes some of them for the time of a call
  const plant::MaterialTable materials;
  plant::Model plant;
  const std::shared_ptr<const plant::ElementNames> names;
  StepReport report;
  ReportParts report_parts;
  Stopwatch clock;           // of the stages
  base::WorkLimits limits;   // of the step that is taken
  plant::MocapMotion mocap;  // motion of mocap bodies in the step
  MocapJams mocap_jams;      // those that leave the step without a solution
  PenetrationMemory penetration;
  LaggedImpulses lagged_impulses;
  Anchors anchors;
  LimitMemory limit_memory;
  Sleep sleep;
  bool may_sleep = true;     // false: the flag sleep has no effect
  bool must_retake = false;  // trees woke so late that the step must begin again
  /// The time step from which stiffnesses without a value of their own follow [s]; 0: that of the
  /// step. It is fixed where steps have many lengths, or each length would be another model.
  double reference_time_step = 0;
  TaxelReader taxels;

  mjModel mirror;        // the caller's model with our options; shares its arrays
  mjModel sleepless;     // mirror without the flag sleep
  mjModel reference;     // mirror with the reference time step
  const mjModel* stage;  // the argument of MuJoCo's functions: the caller's model if possible

 private:
  /// The part of mjData that an error of MuJoCo leaves inconsistent.
  struct MuJoCoState {
    explicit MuJoCoState(const mjData* d);
    int num_full;
    std::size_t pstack, pbase;
  };
  void finish_call(mjData* d, const MuJoCoState& before, const plant::MuJoCoGuard& guard, bool ok);
};

}  // namespace stiction::sim
