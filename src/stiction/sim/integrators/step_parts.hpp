#pragma once

#include <span>
#include <vector>

#include <mujoco/mujoco.h>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/plant/mocap/body_velocities.hpp"
#include "stiction/sim/step/step_inputs.hpp"
#include "stiction/sim/step/step_outputs.hpp"

/// A step may be taken in parts: at the times of contact events, or as half steps of error control.
namespace stiction::sim {

/// Adapts the contacts of the parts of a step that is divided at contact events.
class PartContacts {
 public:
  /// Stores the change of velocity by the smooth forces over the whole step. These forces act in
  /// the first part. The later parts need the change to distinguish impacts from resting contacts.
  void keep_forced_change(const mjModel* model, const mjData* data);

  /// Removes the gap of contacts that touch, because this part starts when they touch. Removes the
  /// restitution of contacts that close no faster than smooth forces could make them close in two
  /// steps; contact::is_impact does the same for undivided steps.
  /// @param mocap velocities of mocap bodies
  void adapt(const mjModel* model, const mjData* data, const plant::MocapMotion& mocap,
             contact::ContactProblem* problem);

 private:
  std::vector<double> forced_change_;  // change of qvel by smooth forces, size nv
  plant::BodyVelocities start_, forced_;
};

/// The part of a step that ContactStep takes. The default is a whole step.
struct StepPart {
  /// True if smooth forces act. Otherwise only impulses change the velocities.
  bool has_forces = true;
  /// True if only geoms that touch at the start take part. Otherwise contacts that may close within
  /// the step take part with their gap.
  bool only_touching = false;
  /// True to complete the contacts' rows in MuJoCo's arrays; see plant::ContactJacobian.
  bool has_jacobian = false;
  /// Adapts the contacts of a step that is divided at contact events; null in a whole step.
  PartContacts* contacts = nullptr;
  /// True to find velocities and their certificate only. MuJoCo's data keep the geometry and the
  /// forces of the start, so that another part may begin there; see keeps_geometry.
  bool is_trial = false;
  /// False if a trial needs no certificate.
  bool has_certificate = true;
  /// True if the part before was a trial from the same state. Its geometry, contacts, rows and
  /// forces are used again; only the time step differs, which may not be longer.
  bool keeps_geometry = false;
  /// The velocities from which the solver of a convex model starts, in MuJoCo's dofs, size nv;
  /// empty: those of the start.
  std::span<const double> guess = {};
};

/// The whole of a step that is taken in parts: its initial state, and the sum of the reports of its
/// parts. It ends the step as MuJoCo does.
class WholeStep {
 public:
  WholeStep(const mjModel* model, StepModels* models, StepOutputs* out)
      : model_(model), models_(*models), out_(*out), start_(model) {}

  /// Keeps the initial positions, velocities, mocap poses and time.
  void begin(const mjData* d);
  /// Adds the report of a part to the sums over the earlier parts, and clears its timings.
  void add_part();
  /// Restores the initial state.
  void restore(mjData* d) const { start_.restore(d); }
  /// Ends the step. If it failed, restores the initial state. Otherwise keeps the positions and
  /// velocities of `data`, sets qacc to the change of velocity divided by the time step, and
  /// advances activations, plugins and time by the whole step as mj_Euler does. The report then
  /// describes all parts.
  void end(mjData* d);

  StepStatistics sums;  // over the parts

 private:
  const mjModel* model_;
  StepModels& models_;
  StepOutputs& out_;
  KeptState start_;
  std::vector<mjtNum> end_qpos_, end_qvel_;
  StepTimings timings_;
  ContactReport contacts_;
};

}  // namespace stiction::sim
