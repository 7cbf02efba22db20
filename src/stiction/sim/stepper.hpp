#pragma once

#include <memory>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials.hpp"
#include "stiction/sim/step_options.hpp"
#include "stiction/sim/step_report.hpp"

namespace stiction::sim {

/// Steps a MuJoCo model in place of mj_step, with contact by one of our models.
///
/// The model and data stay the caller's own; values in the model (masses, friction, gains, options)
/// may change between steps, its structure may not. Masses, inertias, friction, armature and the
/// time step are checked before each step; other values when a step fails, whose message then names
/// the one at fault. As for mj_step, mj_setConst must follow a change of masses or inertias. One
/// Stepper serves one thread at a time and any number of mjData of its model.
class Stepper {
 public:
  /// @param model     kept by pointer; must outlive this
  /// @param materials one per geom; empty: defaults
  /// @throws Error for options out of range and models that are not taken
  Stepper(const mjModel* model, const StepOptions& options, plant::MaterialTable materials = {});
  ~Stepper();
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;

  /// Advances data by num_steps steps, or until one fails: then the state is that of the start of
  /// the failed step, and the report says why. After the first step it allocates only where
  /// contacts, rows or an island outgrow all before.
  /// @return valid until the next call
  [[nodiscard]] const StepReport& step(mjData* data, int num_steps = 1) noexcept;
  /// The same into a report of the caller's, whose memory is used again.
  void step(mjData* data, int num_steps, StepReport* report) noexcept;

  /// The Hessian of the last step's cost at its solution, see formulations::calc_dense_hessian.
  /// Slow: a dense matrix in the solver's velocities, which are MuJoCo's but for free bodies: there
  /// [w; v] of the joint's frame origin, in the world.
  /// @return column-major, size (nv x nv)
  /// @throws Error before the first step, for 'mujoco', and for models that are not convex
  std::vector<double> calc_hessian() const;

  const mjModel* model() const;
  const StepOptions& options() const;
  const plant::MaterialTable& materials() const;
  /// Settings without effect under this contact model, a sentence each; see find_ignored_settings.
  std::vector<std::string> ignored_settings() const;
  /// The step really taken [s].
  double time_step() const;

 private:
  class Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction::sim
