#include "stiction/sim/warnings/limit_warning.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "stiction/plant/model/model.hpp"

namespace stiction::sim {
namespace {

std::string describe(const mjModel* m, const LimitViolation& violation) {
  const bool is_length = violation.is_tendon || m->jnt_type[violation.id] == mjJNT_SLIDE;
  char text[400];
  std::snprintf(text, sizeof text,
                " is %.2g %s beyond its range, and the contact model should let it go by less than "
                "%.2g: it moves too far along a curve within a step, or other constraints push it; "
                "take a smaller step, raise max_correction_speed, or use a compliant contact model",
                violation.excess, is_length ? "m" : "rad", violation.tolerance);
  return plant::describe(m, violation.is_tendon ? mjOBJ_TENDON : mjOBJ_JOINT, violation.id) + text;
}

}  // namespace

void warn_of_limits(const StepInputs& in, const mjData* d, LimitMemory* limits, StepOutputs* out) {
  const mjModel* m = in.model;
  const bool has_limits =
      !(in.models.integrated()->opt.disableflags & (mjDSBL_LIMIT | mjDSBL_CONSTRAINT));
  if (!in.contact_model().is_rigid || !has_limits) return;
  const auto violations = limits->find_new(d);
  if (violations.empty()) return;
  const auto& largest = *std::max_element(
      violations.begin(), violations.end(),
      [](const auto& a, const auto& b) { return a.excess * b.tolerance < b.excess * a.tolerance; });
  out->report.warn(WarningKind::limit, describe(m, largest), static_cast<int>(violations.size()));
}

}  // namespace stiction::sim
