#include "stiction/sim/options/step_options.hpp"

#include "stiction/numerics/lcp_solvers.hpp"
#include "stiction/sim/options/option_values.hpp"

namespace stiction::sim {
namespace {

// In the order of the enum.
constexpr std::string_view kOnFailureNames[] = {"raise", "stop", "keep_best"};

}  // namespace

std::span<const std::string_view> on_failure_names() { return kOnFailureNames; }

void validate(const StepOptions& options) {
  for (const Option& option : option_table()) check_range(option, get_value(option, options));
  check_integrator(options.integrator, options.contact_model);
  // Throws for a solver that this library was built without.
  [[maybe_unused]] const numerics::AnyLcpSolver solver(options.parameters.lcp_solver);
  check_custom_laws(options.parameters);
  check_friction_law(options.contact_model, options.parameters);
}

}  // namespace stiction::sim
