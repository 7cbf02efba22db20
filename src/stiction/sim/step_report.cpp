#include "stiction/sim/step_report.hpp"

namespace stiction::sim {

std::string describe_status(std::uint32_t status) {
  struct Name {
    std::uint32_t bit;
    const char* name;
  };
  constexpr Name kNames[] = {
      {kNonFiniteState, "non_finite_state"},
      {kNonFiniteInput, "non_finite_input"},
      {kNonFiniteSolution, "non_finite_solution"},
      {kNotConverged, "not_converged"},
      {kNotPositiveDefinite, "not_positive_definite"},
      {kBufferFull, "buffer_full"},
      {kMuJoCoError, "mujoco_error"},
      {kCertificateFailed, "certificate_failed"},
      {kOutOfTime, "out_of_time"},
      {kOutOfIterations, "out_of_iterations"},
      {kInterrupted, "interrupted"},
  };
  std::string text;
  for (const Name& n : kNames)
    if (status & n.bit) text += (text.empty() ? "" : ", ") + std::string(n.name);
  return text.empty() ? "ok" : text;
}

}  // namespace stiction::sim
