#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/contact/surface_options.hpp"
#include "stiction/sim/integrator.hpp"

namespace stiction::sim {

/// What a step does whose solution did not converge, or did not pass its certificate.
enum class OnFailure {
  stop,       // leave the state as it was at the start of the step
  keep_best,  // advance with the solution found; the status says what it lacks
};

struct StepOptions {
  contact::ContactModel contact_model = contact::ContactModel::lagged_regularized;
  Integrator integrator = Integrator::euler;
  /// [s], > 0; 0: the model's own
  double time_step = 0;
  /// Relative tolerance of the convex models, in (0, 1) [-]
  double tolerance = 1e-5;
  /// Newton iterations per island and problem solved on the way to its solution, >= 1
  int max_iterations = 100;
  /// Threads that share the islands of one step, >= 1. Results do not depend on it.
  int num_threads = 1;
  OnFailure on_failure = OnFailure::stop;
  contact::ModelParameters parameters;
  contact::SurfaceOptions surfaces;
};

/// @throws Error naming the option, its value and its range
void validate(const StepOptions& options);

}  // namespace stiction::sim
