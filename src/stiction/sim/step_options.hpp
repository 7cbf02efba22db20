#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/surface_options.hpp"
#include "stiction/sim/integrator.hpp"

namespace stiction::sim {

/// The fate of a step whose solution did not converge, or did not pass its certificate.
enum class OnFailure {
  raise,      // as `stop`; the Python package then raises StepError
  stop,       // the state stays as it was at the start of the step; the report says why
  keep_best,  // the step advances with the solution found; the report says what it lacks
};

/// All names, in the order of the enum.
std::span<const std::string_view> on_failure_names();

/// How a Stepper steps. sim/option_table.cpp has a row for every member that has a name in Python,
/// with its range and the models that read it.
struct StepOptions {
  contact::ContactModel contact_model = contact::ContactModel::lagged_regularized;
  Integrator integrator = Integrator::euler;
  /// [s], > 0; none: the model's own
  std::optional<double> time_step = std::nullopt;
  /// Relative tolerance of the convex models, in (0, 1) [-]
  double tolerance = 1e-5;
  /// Newton iterations per island and problem solved on the way to its solution, >= 1
  int max_iterations = 100;
  /// Threads that share the islands of one step, in 1..1024. Results do not depend on it.
  int num_threads = 1;
  OnFailure on_failure = OnFailure::raise;
  /// Records the course of Newton's method in StepReport::trace.
  bool trace = false;
  contact::ModelParameters parameters;
  contact::SurfaceOptions surfaces;
};

/// @throws Error naming the option, its value and its range; or the integrator or the LCP solver
///         that cannot be used
void validate(const StepOptions& options);

}  // namespace stiction::sim
