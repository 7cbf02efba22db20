#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/math/vec3.hpp"
#include "stiction/sim/report/contact_report.hpp"
#include "stiction/sim/report/warning_text.hpp"

namespace stiction::sim {

class TaxelReader;

/// The failures of a step, as bits; no bit is set if the step succeeded.
enum StepStatus : std::uint32_t {
  kOk = 0,
  kNonFiniteState = 1u << 0,       // time, qpos, qvel or act is not finite; nothing was computed
  kNonFiniteInput = 1u << 1,       // a control, applied force, mass, friction or the time step is
                                   // not finite or out of range; nothing was computed
  kNonFiniteSolution = 1u << 2,    // the dynamics or the solution is not finite
  kNotConverged = 1u << 3,         // an island stopped above the tolerance
  kNotPositiveDefinite = 1u << 4,  // an inertia or Hessian could not be factored
  kBufferFull = 1u << 5,           // contacts or constraints did not fit in mjData
  kMuJoCoError = 1u << 6,          // MuJoCo raised an error
  kCertificateFailed = 1u << 7,    // the result did not pass its certificate
  kOutOfTime = 1u << 8,            // the step took longer than max_seconds
  kOutOfIterations = 1u << 9,      // an island needed more iterations than iteration_budget
  kInterrupted = 1u << 10,         // the caller interrupted the step, for example by Ctrl-C
  kTooLarge = 1u << 11,      // an island needs more unknowns or memory than a rigid model takes
  kModelChanged = 1u << 12,  // the model changed so that only a new stepper can follow; nothing was
                             // computed
  kInaccurate = 1u << 13,    // error control missed the accuracy by far at its least step
};

/// Wall times of the stages of a step [us].
struct StepTimings {
  double total = 0;
  double kinematics = 0;  // kinematics and forces
  double collision = 0;
  double surfaces = 0;  // contact surfaces of pressure fields
  double assembly = 0;  // problem, islands
  double solve = 0;
  double certificate = 0;  // also forces in mjData
  double finish = 0;       // report, sensors, advance
};
/// The stages, which are all entries but the total.
inline constexpr double StepTimings::*kStages[] = {
    &StepTimings::kinematics, &StepTimings::collision, &StepTimings::surfaces,
    &StepTimings::assembly,   &StepTimings::solve,     &StepTimings::certificate,
    &StepTimings::finish};

/// Sizes of the contact problem of a step, and the work of its solution.
struct StepStatistics {
  int num_contacts = 0;  // in the problem, including speculative ones
  int num_islands = 0;
  int num_rows = 0;
  int num_asleep = 0;      // kinematic trees that sleep after the step
  int iterations = 0;      // Newton iterations, summed over islands
  int max_iterations = 0;  // of one island
  int max_substeps = 1;    // of one island; only tamsi divides a step into sub-steps
  int line_search_evaluations = 0;
  int num_lemke = 0;          // LCPs that `ppm_ratio` left to Lemke's method, summed over islands
  int num_contact_space = 0;  // islands whose solve began in contact space
  int num_left_contact_space = 0;  // of these, islands that velocities had to finish
  int num_parts = 1;     // of a divided step; the numbers above are sums or maxima over its parts
  int num_events = 0;    // touches that ended a part
  int num_halvings = 0;  // parts that `rk4` gave up and halved
  double residual = 0;   // largest |D grad l| / scale of an island [-]
};

/// The memory that a simulator has of the step before, as bits.
enum MemoryKind : std::uint32_t {
  kActiveSet = 1u << 0,      // of a rigid model: the first guess of the next solve
  kPatchHistory = 1u << 1,   // where the force of deep patches goes on
  kMocapMotion = 1u << 2,    // the last poses of mocap bodies, which give their velocities
  kContactForces = 1u << 3,  // of a lagged model: the normal forces that bound friction
  kAnchors = 1u << 4,        // of the friction law elastic: the stretches of contacts that stick
  kWarnings = 1u << 5,       // the overlaps and limits that have given their warning
  kStepLength = 1u << 6,     // of Stepper::advance: the length of the next step
};
/// Returns the names of the bits that are set, in order: "active_set", "patch_history".
std::vector<std::string> list_memory(std::uint32_t kinds);

/// The warnings of one kind in a call.
struct WarningReport {
  int count = 0;
  WarningText text;  // the last one
};

/// The steps of a call of Stepper::advance. All are 0 after other calls.
struct AdvanceReport {
  double until = 0;              // the argument [s]
  double accuracy = 0;           // the argument [m]
  int num_steps = 0;             // steps that were accepted
  int num_rejected = 0;          // steps that were taken again with a smaller length
  int num_failed = 0;            // those of them whose solver or certificate failed
  int num_not_extrapolated = 0;  // steps in which an island was not extrapolated
  int num_inaccurate = 0;        // steps of the least length that missed the accuracy
  double first_step = 0;         // the length that was planned when the call began [s]
  double first_error = 0;    // the error of the step before the call, relative to the accuracy [-]
  double smallest_step = 0;  // [s]
  double largest_step = 0;   // [s]
  double next_step = 0;      // the length that the next call begins with [s]
  double last_error = 0;     // the error of the last step, relative to the accuracy [-]
  /// The sum and the largest of the errors of all steps [m]. An error is local: it says how far a
  /// point is from where it should be by one step from the state at its start. The sum is how far
  /// it would be if every error were carried along unchanged. It is no bound of the global error.
  double sum_of_errors = 0;
  double largest_error = 0;

  bool accuracy_reached() const { return num_inaccurate == 0; }
};

/// The readings of the taxels of all sensors in a step: arrays with one entry (or row) per taxel,
/// of which [start[i], start[i + 1]) are those of sensor i. Forces act on the body of the sensor
/// and are means over the step.
struct TaxelReport {
  std::vector<std::string> names;  // one per sensor
  std::vector<int> shape;          // 2 per sensor: taxels along both axes; for a mesh: taxels, 1
  std::vector<int> start{0};       // size() + 1

  std::vector<math::RigidTransform> pose;  // X_WS of each sensor
  std::vector<math::Vec3> local_position;  // in the frame of the sensor [m]
  std::vector<double> area;                // [m^2]
  /// 3 [Pa]: the pressure, > 0 if pressed, and the two shears, in the frame of the taxel.
  std::vector<double> traction;
  std::vector<double> force;   // 3, world [N]
  std::vector<double> torque;  // 3, about the taxel's position, world [N m]
  std::vector<int> pressed;    // the taxels with a force; the entries of all others are 0
  /// Identifies the sensors whose names, shapes and areas the report has; 0: it has none.
  std::uint64_t layout_id = 0;

  /// Returns the position of a taxel of sensor i in the world [m].
  math::Vec3 position(int i, int taxel) const { return pose[i] * local_position[taxel]; }
  int size() const { return static_cast<int>(names.size()); }
  int num_taxels() const { return static_cast<int>(area.size()); }
};

/// The course of Newton's method in a step: arrays with one entry per iterate. Empty unless
/// StepOptions::trace is set. A step solves its islands again if the solution reaches more
/// contacts, and once more for each part of a divided step. An island takes several runs of
/// Newton's method if its problem is solved by way of softer problems, in rounds (`coulomb`) or in
/// sub-steps (`tamsi`).
struct TraceReport {
  std::vector<int> solve;      // 0, 1, ...
  std::vector<int> island;     // index in StepReport::islands of that solve
  std::vector<int> run;        // 0, 1, ... of the island
  std::vector<int> iteration;  // 0, 1, ... of the run
  /// Cost l at the iterate minus l at the start of the run [J]; NaN under `tamsi`, which has no
  /// cost.
  std::vector<double> cost;
  std::vector<double> gradient_norm;  // |D grad l| [sqrt(J)]
  std::vector<double> step_length;  // of the step from the iterate, 1 for a full step; 0 at the end
  int num_solves = 0;

  int size() const { return static_cast<int>(solve.size()); }
};

/// The springs of contacts, joints and tendons that stick under the friction law `elastic`.
struct AnchorSummary {
  double largest_stretch = 0;  // of a contact at the end of the step [m]
  double energy = 0;           // of all springs at the end of the step [J]
  /// The energy that the springs of contacts, and what AnchorSharing keeps for them, gained when
  /// contacts were found again, beyond the work of the bodies' motion [J]. It is 0 or round-off.
  double energy_gain = 0;
  int num_lost = 0;  // of the last step, not found again although their geoms touch
  /// The number of springs that were forgotten, because the step does not begin with the state in
  /// which the last one ended.
  int num_forgotten = 0;
};

/// The parts of a report that take time to write. What is false is empty or 0.
struct ReportParts {
  bool patches = true;
  bool timings = true;
};

/// The findings of all steps of a call: the worst certificate, and the warnings.
struct CallFindings {
  certificate::Certificate certificate;
  int num_warnings = 0;                                  // of all kinds
  WarningText warning;                                   // the last one
  std::array<WarningReport, kNumWarningKinds> warnings;  // by kind
};

/// The report of a step. After several steps in one call it describes the last one, with the
/// findings of the call.
struct StepReport : CallFindings {
  std::uint32_t status = kOk;
  std::string message;        // the problem, its cause and a remedy; empty if status is kOk
  double time = 0;            // at the end of the step [s]
  int num_steps = 0;          // steps completed by this call
  double momentum_error = 0;  // momentum residual |D r| by MuJoCo's matrices [sqrt(J)]
  StepStatistics statistics;
  StepTimings timings;
  AdvanceReport advance;
  ContactReport contacts;
  PatchReport patches;
  TraceReport trace;
  std::vector<contact::IslandStatistics> islands;
  AnchorSummary anchors;
  /// Bits of MemoryKind that the first step of the call would have taken from the step before, but
  /// did not have: its data and time are not those in which the last step of the simulator ended.
  /// A checkpoint with Stepper::get_state has them. 0 at time 0, where there is no step before.
  std::uint32_t missing_memory = 0;

  /// The layout and the poses of the sensors of taxels, to which read_taxels() adds the readings.
  mutable TaxelReport started_taxels;
  mutable std::shared_ptr<TaxelReader> taxel_reader;  // null if there is nothing to add
  /// Returns the readings of taxels, which are 0 if the call failed. The first call computes them
  /// from the contacts and patches. Threads must not read the reports of one stepper at the same
  /// time.
  const TaxelReport& read_taxels() const;

  /// Adds warnings of a kind, of which `text` is the last one. See StepOutputs::warn.
  void warn(WarningKind kind, WarningText text, int count);
  bool ok() const { return status == kOk; }
};

/// Returns the names of the bits that are set: "non_finite_state, not_converged".
std::string describe_status(std::uint32_t status);

}  // namespace stiction::sim
