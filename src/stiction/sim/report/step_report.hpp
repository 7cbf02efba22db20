#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/sim/report/advance_report.hpp"
#include "stiction/sim/report/patch_report.hpp"
#include "stiction/sim/report/taxel_report.hpp"
#include "stiction/sim/report/trace_report.hpp"
#include "stiction/sim/report/warning_text.hpp"

namespace stiction::sim {

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

/// The contacts of a step: arrays with one entry (or row) per contact. They include speculative
/// contacts that did not touch; their distance is above 0 and their impulse is 0. A step that is
/// divided lists the contacts of each part, each with the impulse of that part.
struct ContactReport {
  std::vector<int> bodies;                // 2 per contact: MuJoCo body ids of A and B
  std::vector<int> geoms;                 // 2 per contact
  std::vector<double> point;              // 3, world [m]
  std::vector<double> normal;             // 3, world, from A into B
  std::vector<double> distance;           // signed, < 0 overlaps [m]
  std::vector<double> impulse;            // 3, on B, world [N s]
  std::vector<double> torque_impulse;     // 3, on B, world [N m s]; torsional and rolling friction
  std::vector<double> normal_impulse;     // >= 0 [N s]
  std::vector<double> normal_velocity;    // v_n after the step, > 0 separates [m/s]
  std::vector<double> slip_velocity;      // 3, of B relative to A, tangential, world [m/s]
  std::vector<std::uint8_t> slipping;     // 1: friction at its bound; 0: stiction or no force
  std::vector<double> friction;           // sliding coefficient used, 0 if frictionless [-]
  std::vector<double> delassus;           // mobility w of the point [1/kg]; NaN if not computed
  std::vector<std::uint8_t> is_fallback;  // 1: a point contact of a geom with a pressure field
  std::vector<int> patch;                 // index of the patch that it is a point of; -1: none
  double time_step = 0;                   // of the whole step [s]; force = impulse / time_step

  int size() const { return static_cast<int>(distance.size()); }
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
  int num_lemke = 0;     // LCPs that `ppm_ratio` left to Lemke's method, summed over islands
  int num_parts = 1;     // of a divided step; the numbers above are sums or maxima over its parts
  int num_events = 0;    // touches that ended a part
  int num_halvings = 0;  // parts that `rk4` gave up and halved
  double residual = 0;   // largest |D grad l| / scale of an island [-]
};

/// The kinds of warnings of a step.
enum class WarningKind {
  mujoco,        // MuJoCo's own
  patch_limit,   // pressure fields are thin for their speed, or deep in each other
  conflict,      // overlaps, limits and equalities cannot be corrected together
  large_force,   // a contact force that no weight, motion or applied force explains
  penetration,   // a contact lets geoms sink deep into each other
  limit,         // a rigid model lets a joint or tendon leave its range
  law_range,     // a contact is beyond the table of a normal law
  coupling,      // friction is bounded by other normal impulses than those of the step
  rotation,      // a body or joint turns by more than half a turn in the step
  plugin_state,  // advance does not know the error of an engine plugin's state
  anchors,       // springs of contacts that stick are lost in many steps
};
inline constexpr int kNumWarningKinds = 11;

/// What a simulator remembers of the step before, as bits.
enum MemoryKind : std::uint32_t {
  kActiveSet = 1u << 0,      // of a rigid model: the first guess of the next solve
  kPatchHistory = 1u << 1,   // where the force of deep patches goes on
  kMocapMotion = 1u << 2,    // the last poses of mocap bodies, which give their velocities
  kContactForces = 1u << 4,  // of a lagged model: the normal forces that bound friction
  kAnchors = 1u << 5,        // of the friction law elastic: the stretches of contacts that stick
  kWarnings = 1u << 3,       // the overlaps and limits that have given their warning
  kStepLength = 1u << 6,     // of Stepper::advance: the length of the next step
};
/// Returns the names of the bits that are set, in order: "active_set", "patch_history".
std::vector<std::string> list_memory(std::uint32_t kinds);

/// Returns the name of a kind, such as "patch_limit".
const char* name(WarningKind kind);

/// The warnings of one kind in a call.
struct WarningReport {
  int count = 0;
  WarningText text;  // the last one
};

/// The springs of contacts that stick under the friction law `elastic`.
struct AnchorSummary {
  double largest_stretch = 0;  // of a contact at the end of the step [m]
  double energy = 0;           // of all springs at the end of the step [J]
  /// The energy that all springs, and what AnchorSharing keeps for them, gained when contacts were
  /// found again, beyond the work of the bodies' motion [J]. It is 0 or round-off.
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

/// The report of a step. After several steps in one call it describes the last one, with the worst
/// certificate and all warnings of the call.
struct StepReport {
  std::uint32_t status = kOk;
  std::string message;  // the problem, its cause and a remedy; empty if status is kOk
  double time = 0;      // at the end of the step [s]
  int num_steps = 0;    // steps completed by this call
  certificate::Certificate certificate;
  double momentum_error = 0;  // momentum residual |D r| by MuJoCo's matrices [sqrt(J)]
  StepStatistics statistics;
  StepTimings timings;
  AdvanceReport advance;
  ContactReport contacts;
  PatchReport patches;
  TaxelReport taxels;
  TraceReport trace;
  std::vector<contact::IslandStatistics> islands;
  AnchorSummary anchors;
  int num_warnings = 0;                                  // of all kinds
  WarningText warning;                                   // the last one
  std::array<WarningReport, kNumWarningKinds> warnings;  // by kind
  /// Bits of MemoryKind that the first step of the call would have taken from the step before, but
  /// did not have: its data and time are not those in which the last step of the simulator ended.
  /// A checkpoint with Stepper::get_state has them. 0 at time 0, where there is no step before.
  std::uint32_t missing_memory = 0;

  /// Adds warnings of a kind, of which `text` is the last one.
  void warn(WarningKind kind, WarningText text, int count = 1);
  bool ok() const { return status == kOk; }
};

/// Returns the names of the bits that are set: "non_finite_state, not_converged".
std::string describe_status(std::uint32_t status);

}  // namespace stiction::sim
