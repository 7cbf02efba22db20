#include "stiction/sim/penetration_warning.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <string>

#include "stiction/plant/model.hpp"

namespace stiction::sim {
namespace {

/// Returns the smallest side of a geom's bounding box [m]; planes and height fields: infinite.
double calc_thickness(const mjModel* m, int geom) {
  const int type = m->geom_type[geom];
  if (type == mjGEOM_PLANE || type == mjGEOM_HFIELD) return std::numeric_limits<double>::infinity();
  const mjtNum* half_sides = m->geom_aabb + 6 * geom + 3;
  return 2 * std::min({half_sides[0], half_sides[1], half_sides[2]});
}

/// Returns true if the caller moves the geom, as part of a mocap body.
bool is_mocap(const mjModel* m, int geom) {
  return m->body_mocapid[m->body_rootid[m->geom_bodyid[geom]]] >= 0;
}

/// Returns true if the geom is part of a mocap body that has no velocity in this step.
bool is_resting_mocap(const StepContext& context, int geom) {
  const mjModel* m = context.model;
  return is_mocap(m, geom) && !context.mocap.of_body(m, m->geom_bodyid[geom]);
}

/// The contact that is deepest in proportion to the thickness of a geom.
struct Deepest {
  int contact = -1;
  int thin_geom = -1;
  double depth = 0;      // at the end of the step [m]
  double thickness = 0;  // of the thin geom [m]
};

Deepest find_deepest(const mjModel* m, const ContactReport& contacts, double dt) {
  Deepest out;
  double largest_share = kTooDeep;
  for (int c = 0; c < contacts.size(); ++c) {
    const double depth = -(contacts.distance[c] + dt * contacts.normal_velocity[c]);
    if (!(depth > 0) || contacts.patch[c] >= 0) continue;
    const int* geoms = &contacts.geoms[2 * c];
    const double a = calc_thickness(m, geoms[0]), b = calc_thickness(m, geoms[1]);
    const double thickness = std::min(a, b);
    // The pose of a mocap body may jump between the steps.
    const bool is_old = -contacts.distance[c] >= kTooDeep * thickness && !is_mocap(m, geoms[0]) &&
                        !is_mocap(m, geoms[1]);
    if (is_old || !(depth >= largest_share * thickness)) continue;
    largest_share = depth / thickness;
    out = {c, a < b ? geoms[0] : geoms[1], depth, thickness};
  }
  return out;
}

/// Returns the cause and its remedy.
const char* explain(const StepContext& context, const int* geoms) {
  const contact::ContactModelTraits& model = contact::traits(context.options.contact_model);
  if (is_resting_mocap(context, geoms[0]) || is_resting_mocap(context, geoms[1]))
    return "the pose of the mocap body has jumped, or it pushes others where they cannot go, so it "
           "has no velocity and pushes no faster than overlaps part, at max_correction_speed; move "
           "it by a similar distance before every step, or raise max_correction_speed";
  if (model.gaps == contact::GapPolicy::kTouching)
    return "the contact model ignores contacts that have a gap at the start of a step, so fast "
           "bodies pass through others; take a smaller step, or choose another contact model";
  if (model.options.near_rigid_factor)
    return "the contact is too soft for its load or its speed, so a body may be squeezed flat or "
           "pass through the other; take a smaller step or a smaller near_rigid_factor, which "
           "limits the stiffness, or choose another contact model";
  if (model.is_rigid) return "their velocities do not keep them apart; take a smaller step";
  return "the contact is too soft for its load or its speed, so a body may be squeezed flat or "
         "pass through the other; take a smaller step, or give the geoms a larger stiffness";
}

std::string describe(const StepContext& context, const ContactReport& contacts,
                     const Deepest& deepest) {
  const mjModel* m = context.model;
  const auto name = [m](int geom) { return plant::describe(m, mjOBJ_GEOM, geom); };
  const int* geoms = &contacts.geoms[2 * deepest.contact];
  char text[200];
  std::snprintf(text, sizeof text,
                " overlap by %.2g m at the end of the step, and %s is %.2g m thick: ",
                deepest.depth, name(deepest.thin_geom).c_str(), deepest.thickness);
  return name(geoms[0]) + " and " + name(geoms[1]) + text + explain(context, geoms);
}

}  // namespace

void warn_of_penetration(StepContext& context, double time_step) {
  const ContactReport& contacts = context.report.contacts;
  const Deepest deepest = find_deepest(context.model, contacts, time_step);
  if (deepest.contact < 0) return;
  context.report.warn(WarningKind::penetration, describe(context, contacts, deepest));
}

}  // namespace stiction::sim
