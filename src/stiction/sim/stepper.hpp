#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/plant/materials/materials.hpp"
#include "stiction/plant/patches/taxel_sensors.hpp"
#include "stiction/sim/advance/options.hpp"
#include "stiction/sim/memory/anchor_report.hpp"
#include "stiction/sim/options/step_options.hpp"
#include "stiction/sim/report/step_report.hpp"

namespace stiction::sim {

/// Steps a MuJoCo model in place of mj_step, with one of our contact models.
///
/// The model and data stay the caller's. Values in the model (masses, friction, gains, options) may
/// change between steps; its structure may not. Each call checks the values that a step reads. Of
/// each array of mesh vertices, elevations or bounding volumes it checks a part, and the next call
/// checks the next part. A value out of range fails the step, and the message names it. As for
/// mj_step, mj_setConst must follow a change of masses or inertias.
/// One Stepper serves one thread at a time and any number of mjData of its model.
class Stepper {
 public:
  /// @param model     kept by pointer; must outlive this
  /// @param materials one per geom; empty: defaults
  /// @throws Error for options out of range and models that are not supported
  Stepper(const mjModel* model, const StepOptions& options, plant::MaterialTable materials = {});
  ~Stepper();
  Stepper(Stepper&&) noexcept;
  Stepper& operator=(Stepper&&) noexcept;

  /// Advances data by num_steps steps, or until a step fails. Then the state is that of the start
  /// of the failed step, and the report gives the reason. After the first step it allocates memory
  /// only if there are more contacts or rows, or a larger island, than ever before.
  /// @return the report, valid until the next call
  [[nodiscard]] const StepReport& step(mjData* data, int num_steps = 1) noexcept;
  /// Does the same with a report of the caller, whose memory is reused.
  void step(mjData* data, int num_steps, StepReport* report) noexcept;

  /// Advances data to options.until by steps whose lengths follow from their errors; see
  /// sim::Advance and [theory:error-control]. The inputs of data are held for the whole call. The
  /// limit max_seconds holds for the whole call. If a step fails at the least length, data are as
  /// they were before the call, and the report gives the reason.
  /// @return the report, valid until the next call: contacts, forces and sensors of acceleration
  ///     are averages over the call; the certificate is the worst of all solves
  /// @throws Error for options out of range, and for a contact model or an integrator that does not
  ///     fit, see check_can_advance
  const StepReport& advance(mjData* data, const AdvanceOptions& options);
  /// Does the same with a report of the caller, whose memory is reused.
  void advance(mjData* data, const AdvanceOptions& options, StepReport* report);

  /// Computes positions, velocities, forces, accelerations and sensors at the present state, as
  /// mj_forward does, but with our contact. The state does not change, and the next step has the
  /// same bits as without this call. The forces are those of the step that would begin now: an
  /// impulse of this step divided by its length. Unlike a step, this also completes the contacts'
  /// rows of efc_J, efc_vel and efc_b.
  /// @return the report, valid until the next call; its contacts and certificate are those of the
  ///     step that would begin now
  [[nodiscard]] const StepReport& forward(mjData* data) noexcept;
  /// Does the same with a report of the caller, whose memory is reused.
  void forward(mjData* data, StepReport* report) noexcept;

  /// Computes the Hessian of the last step's cost at its solution, see
  /// formulations::calc_dense_hessian. It is a dense matrix, so this is slow. Its rows and columns
  /// are the solver's velocities. These are MuJoCo's, except for free bodies: there they are [w; v]
  /// of the joint's frame origin, in the world frame.
  /// @return column-major, size (nv x nv)
  /// @throws Error before the first step, for 'mujoco', and for models that are not convex
  std::vector<double> calc_hessian() const;

  /// Returns what the stepper remembers of the last step: the active set of a rigid model,
  /// positions of deep patches, poses of mocap bodies, pairs of geoms that are deep in each other,
  /// and the trees that sleep. A stepper with the same model and options that gets these numbers by
  /// set_state, and an mjData with the same mjSTATE_INTEGRATION, continues with the same bits.
  std::vector<std::uint64_t> get_state() const;
  /// Takes up what is remembered of data, as the next step of data does, so that get_state returns
  /// that. A stepper remembers the last steps of several data.
  void turn_to(const mjData* data);
  /// Does the same in the caller's memory.
  void get_state(std::vector<std::uint64_t>* state) const;
  /// @throws Error if the numbers are not the state of a stepper with this model and these options;
  ///         the stepper then remembers what it did before
  void set_state(std::span<const std::uint64_t> state);
  /// Does the same with numbers that are known to be a state of a stepper with the same model and
  /// options. It allocates nothing if the stepper has seen as large a state before.
  /// @throws Error if patches of the model have changed since
  void resume(std::span<const std::uint64_t> state);

  /// Returns the anchors of the friction law `elastic` at the end of the last step, with a hash of
  /// its time and positions. They are also a part of get_state.
  /// @throws Error under another friction law
  std::vector<std::uint64_t> save_anchors() const;
  /// Returns these anchors as numbers with a meaning, sorted by their geoms.
  /// @throws Error under another friction law
  std::vector<AnchorReport> list_anchors() const;
  /// Lets the next step of data go on with saved anchors.
  /// @throws Error under another friction law, or if the numbers are not those of save_anchors, or
  ///         if they belong to another time or other positions than those of data
  void load_anchors(const mjData* data, std::span<const std::uint64_t> anchors);
  /// Forgets all anchors: contacts that stick begin again without a stretch, and internal loads of
  /// a grip relax.
  /// @throws Error under another friction law
  void forget_anchors();

  /// Asks, about ten times a second on the thread that steps, whether to give up the step, which
  /// then fails with kInterrupted. Null, the default, never asks.
  void set_interrupt(bool (*is_interrupted)());

  const mjModel* model() const;
  const StepOptions& options() const;
  const plant::MaterialTable& materials() const;
  /// Returns a sentence for each setting without effect under this contact model; see
  /// find_ignored_settings.
  std::vector<std::string> ignored_settings() const;
  /// Tells whether the model stays as it is, so that its values need no check in each call. It is
  /// not known to stay at first. Callbacks may change it all the same.
  void set_model_is_constant(bool model_is_constant);
  /// Chooses whether trees may sleep if the model's flag allows it; they may at first.
  void set_may_sleep(bool may_sleep);
  /// Adds grids of taxels to those of the model's tactile sensors, in place of earlier ones. The
  /// reports of steps have their readings, see StepReport::read_taxels.
  void set_taxels(std::span<const plant::TaxelGrid> grids);
  /// Chooses the parts of the reports from now on.
  void set_report_parts(const ReportParts& parts);
  /// The time step that is taken [s]: the option, or else the model's.
  double time_step() const;

 private:
  class Workspace;
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace stiction::sim
