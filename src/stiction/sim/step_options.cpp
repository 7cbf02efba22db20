#include "stiction/sim/step_options.hpp"

#include <cmath>
#include <cstdio>

#include "stiction/base/error.hpp"
#include "stiction/numerics/lcp_solvers.hpp"

namespace stiction::sim {
namespace {

std::string to_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

void require(bool holds, const char* option, double value, const char* range) {
  if (holds) return;
  throw Error(ErrorCode::kInvalidValue, option, "is " + to_text(value) + ", must be " + range);
}

}  // namespace

void validate(const StepOptions& options) {
  const auto& p = options.parameters;
  check_integrator(options.integrator, options.contact_model);
  require(std::isfinite(options.time_step) && options.time_step >= 0, "time_step",
          options.time_step, "a positive time in seconds (0: the model's own)");
  require(options.tolerance > 0 && options.tolerance < 1, "tolerance", options.tolerance,
          "in (0, 1)");
  require(options.max_iterations >= 1, "max_iterations", options.max_iterations, "at least 1");
  require(options.num_threads >= 1 && options.num_threads <= 1024, "num_threads",
          options.num_threads, "in 1..1024");
  require(std::isfinite(p.stiction_tolerance) && p.stiction_tolerance > 0, "stiction_tolerance",
          p.stiction_tolerance, "a positive speed in m/s");
  require(std::isfinite(p.friction_regularization) && p.friction_regularization >= 0,
          "friction_regularization", p.friction_regularization, "finite and at least 0");
  require(std::isfinite(p.near_rigid_factor) && p.near_rigid_factor >= 0, "near_rigid_factor",
          p.near_rigid_factor, "finite and at least 0");
  require(
      p.friction_directions >= 4 && p.friction_directions <= 64 && p.friction_directions % 2 == 0,
      "friction_directions", p.friction_directions, "even, in 4..64");
  require(p.gap_correction >= 0 && p.gap_correction <= 1, "gap_correction", p.gap_correction,
          "in [0, 1]");
  require(std::isfinite(p.max_correction_speed) && p.max_correction_speed >= 0,
          "max_correction_speed", p.max_correction_speed, "a speed of at least 0 in m/s");
  // Throws for one that this library was built without.
  [[maybe_unused]] const numerics::AnyLcpSolver solver(p.lcp_solver);
  if (p.normal_law == contact::NormalLawKind::custom && !p.custom_law)
    throw Error(ErrorCode::kInvalidValue, "custom_law", "is null; give one by make_custom_law");
}

}  // namespace stiction::sim
