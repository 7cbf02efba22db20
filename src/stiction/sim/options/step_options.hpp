#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/patch_contact.hpp"
#include "stiction/plant/materials/materials.hpp"

namespace stiction::sim {

/// The method that takes a step from one state to the next. An integrator has the same name in C++,
/// in Python and on the command line.
enum class Integrator {
  euler,         // semi-implicit Euler: one solve; contacts that close take part with their gap
  event_driven,  // the same, divided at the times when geoms begin to touch
  rk4,           // Runge and Kutta's method of order 4 between impacts
};

/// An integrator and the contact models that it supports.
struct IntegratorTraits {
  Integrator integrator;
  std::string_view name;
  /// The property that a contact model must have, for messages; empty if it supports all models.
  std::string_view need;
  /// Returns true if the integrator supports a contact model.
  bool (*takes)(const contact::ContactModelTraits& model);
  /// True if trees may sleep. The others move bodies within a step, where none could wake.
  bool has_sleep = false;
};

/// All integrators, in the order of the enum.
std::span<const IntegratorTraits> integrators();
/// Returns the row of an integrator.
const IntegratorTraits& traits(Integrator integrator);
/// Returns the name of an integrator.
std::string_view name_of(Integrator integrator);

/// The consequence of a step that fails.
enum class OnFailure {
  raise,      // the same as `stop`; in addition the Python package raises StepError
  stop,       // the state stays as it was at the start of the step; the report gives the reason
  keep_best,  // the step advances with a solution that did not converge or failed its certificate;
              // the report gives the fault; any other failure stops
};

/// The names of OnFailure, in the order of the enum.
std::span<const std::string_view> on_failure_names();

/// The options of a Stepper. sim/options/option_table.cpp has a row for every member that has a
/// name in Python, with its range and the models that read it.
struct StepOptions {
  contact::ContactModel contact_model = contact::ContactModel::coulomb;
  Integrator integrator = Integrator::euler;
  /// Time step [s], > 0; if empty, the time step of the model.
  std::optional<double> time_step = std::nullopt;
  /// Relative tolerance of the convex models, in (0, 1) [-]
  double tolerance = 1e-5;
  /// Largest number of Newton iterations for an island, and for each softer problem that leads to
  /// its solution, >= 1.
  int max_iterations = 100;
  /// Largest number of iterations of one solve of an island, over all rounds and fallbacks; 0 for
  /// no limit. Newton iterations and pivots count.
  int iteration_budget = 0;
  /// Wall time after which a step fails [s], > 0; empty for no limit.
  std::optional<double> max_seconds = std::nullopt;
  /// Threads that share the islands of one step, in 1..1024. Results do not depend on it.
  int num_threads = 1;
  OnFailure on_failure = OnFailure::raise;
  /// Under the lagged models. True: friction is bounded by the normal force that the last step
  /// found. False: by the force of the state at the start of the step, as published.
  bool remember_forces = true;
  /// Under compliant models. True: an equality or a limit is as stiff as its solref and solimp ask,
  /// by the exact mobility of its row. False: it is softer where MuJoCo's estimate of the mobility
  /// is larger.
  bool exact_mobility = true;
  /// Records the course of Newton's method in StepReport::trace.
  bool trace = false;
  contact::ModelParameters parameters = {.friction_law =
                                             contact::FrictionRegularizationKind::automatic};
  contact::SurfaceOptions surfaces;
};

/// Returns the options with the friction law that `automatic` stands for: `soft` if a surface has a
/// pressure field, because soft pads swing on springs, otherwise that of choose_friction_law.
StepOptions resolve(StepOptions options, const plant::MaterialTable& materials);

/// Checks the options.
/// @throws Error naming the option, its value and its range, or naming the integrator or the LCP
///         solver that cannot be used
void validate(const StepOptions& options);

}  // namespace stiction::sim
