#include "stiction/sim/report/step_report.hpp"

#include <utility>

namespace stiction::sim {

const char* name(WarningKind kind) {
  switch (kind) {
    case WarningKind::mujoco: return "mujoco";
    case WarningKind::patch_limit: return "patch_limit";
    case WarningKind::conflict: return "conflict";
    case WarningKind::large_force: return "large_force";
    case WarningKind::penetration: return "penetration";
    case WarningKind::limit: return "limit";
    case WarningKind::law_range: return "law_range";
    case WarningKind::coupling: return "coupling";
    case WarningKind::rotation: return "rotation";
    case WarningKind::plugin_state: return "plugin_state";
    case WarningKind::anchors: return "anchors";
  }
  return "";
}

void StepReport::warn(WarningKind kind, WarningText text, int count) {
  num_warnings += count;
  WarningReport& own = warnings[static_cast<int>(kind)];
  own.count += count;
  own.text = text;
  warning = std::move(text);
}

std::vector<std::string> list_memory(std::uint32_t kinds) {
  std::vector<std::string> names;
  if (kinds & kActiveSet) names.emplace_back("active_set");
  if (kinds & kPatchHistory) names.emplace_back("patch_history");
  if (kinds & kMocapMotion) names.emplace_back("mocap_motion");
  if (kinds & kContactForces) names.emplace_back("contact_forces");
  if (kinds & kAnchors) names.emplace_back("anchors");
  if (kinds & kWarnings) names.emplace_back("warnings");
  if (kinds & kStepLength) names.emplace_back("step_length");
  return names;
}

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
      {kTooLarge, "too_large"},
      {kModelChanged, "model_changed"},
      {kInaccurate, "inaccurate"},
  };
  std::string text;
  for (const Name& n : kNames)
    if (status & n.bit) text += (text.empty() ? "" : ", ") + std::string(n.name);
  return text.empty() ? "ok" : text;
}

}  // namespace stiction::sim
