#include "stiction/sim/warnings/penetration_warning.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <string>

#include "stiction/plant/model/model.hpp"

namespace stiction::sim {
namespace {

/// Returns true if the caller moves the geom, as part of a mocap body.
bool is_mocap(const mjModel* m, int geom) {
  return m->body_mocapid[m->body_rootid[m->geom_bodyid[geom]]] >= 0;
}

/// Returns true if the geom is part of a mocap body that has no velocity in this step.
bool is_resting_mocap(const StepInputs& in, int geom) {
  const mjModel* m = in.model;
  return is_mocap(m, geom) && !in.mocap.of_body(m, m->geom_bodyid[geom]);
}

/// Returns the cause and its remedy.
const char* explain(const StepInputs& in, const PenetrationMemory::Pair& pair) {
  const auto& geoms = pair.geoms;
  const contact::ContactModelTraits& model = in.contact_model();
  if (is_resting_mocap(in, geoms[0]) || is_resting_mocap(in, geoms[1]))
    return "the pose of the mocap body has jumped, or it pushes others where they cannot go, so it "
           "has no velocity and pushes no faster than overlaps part, at max_correction_speed; move "
           "it by a similar distance before every step, or raise max_correction_speed";
  if (model.gaps == contact::GapPolicy::kTouching)
    return "the contact model ignores contacts that have a gap at the start of a step, so fast "
           "bodies pass through others; take a smaller step, or choose another contact model";
  if (is_through(pair))
    return "they have passed into each other between the contact points of two steps, as a thin or "
           "fast body can; take a smaller step, or make the bodies thicker";
  if (model.options.near_rigid_factor)
    return "the contact is too soft for its load or its speed, so a body may be squeezed flat or "
           "pass through the other; take a smaller step or a smaller near_rigid_factor, which "
           "limits the stiffness, or choose another contact model";
  if (model.is_rigid) return "their velocities do not keep them apart; take a smaller step";
  return "the contact is too soft for its load or its speed, so a body may be squeezed flat or "
         "pass through the other; take a smaller step, or give the geoms a larger stiffness";
}

/// Returns the thickness of the thinnest geom [m].
double find_least_thickness(const mjModel* m) {
  double least = std::numeric_limits<double>::infinity();
  for (int geom = 0; geom < m->ngeom; ++geom) least = std::min(least, calc_thickness(m, geom));
  return least;
}

std::string describe(const StepInputs& in, const PenetrationMemory::Pair& pair) {
  const mjModel* m = in.model;
  const auto name = [m](int geom) { return plant::describe(m, mjOBJ_GEOM, geom); };
  const double thickness[2] = {calc_thickness(m, pair.geoms[0]), calc_thickness(m, pair.geoms[1])};
  const int thin = thickness[0] < thickness[1] ? 0 : 1;
  char text[200];
  std::snprintf(text, sizeof text,
                " overlap by %.2g m in the step, and %s is %.2g m thick: ", pair.depth,
                name(pair.geoms[thin]).c_str(), thickness[thin]);
  return name(pair.geoms[0]) + " and " + name(pair.geoms[1]) + text + explain(in, pair);
}

}  // namespace

void record_penetration(const mjModel* m, const ContactReport& contacts, double time_step,
                        PenetrationMemory* penetration) {
  if (contacts.size() == 0) return;
  const double least = kTooDeep * find_least_thickness(m);
  for (int c = 0; c < contacts.size(); ++c) {
    const double start = -contacts.distance[c];
    const double end = start - time_step * contacts.normal_velocity[c];
    if (std::max(start, end) < least && !penetration->knows_any()) continue;
    if (contacts.patch[c] >= 0) continue;
    const std::array<int, 2> geoms = {contacts.geoms[2 * c], contacts.geoms[2 * c + 1]};
    const double thickness = std::min(calc_thickness(m, geoms[0]), calc_thickness(m, geoms[1]));
    penetration->record(geoms, start, end, kTooDeep * thickness,
                        is_mocap(m, geoms[0]) || is_mocap(m, geoms[1]));
  }
}

void warn_of_penetration(const StepInputs& in, PenetrationMemory* penetration, StepOutputs* out) {
  const auto pairs = penetration->find_new();
  if (pairs.empty()) return;
  const auto& deepest =
      *std::max_element(pairs.begin(), pairs.end(),
                        [](const auto& a, const auto& b) { return a.depth / a.h < b.depth / b.h; });
  out->report.warn(WarningKind::penetration, describe(in, deepest), static_cast<int>(pairs.size()));
}

}  // namespace stiction::sim
