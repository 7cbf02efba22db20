#include "stiction/sim/law_range_warning.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "stiction/contact/law_tables.hpp"
#include "stiction/plant/model.hpp"

namespace stiction::sim {
namespace {

/// A contact whose argument of the law is beyond a table.
struct Excess {
  int contact = -1;
  double value = 0, last = 0;  // the argument, and the last entry of the table
};

std::string describe(const StepContext& context, const Excess& excess, const char* what,
                     const char* unit) {
  const ContactReport& contacts = context.report.contacts;
  const auto name = [&](int side) {
    return plant::describe(context.model, mjOBJ_GEOM, contacts.geoms[2 * excess.contact + side]);
  };
  char text[300];
  std::snprintf(text, sizeof text,
                " touch with a %s of %.3g %s, but the table of the normal law ends at %.3g %s: the "
                "force continues along the table's tangent; extend the table",
                what, excess.value, unit, excess.last, unit);
  return name(0) + " and " + name(1) + text;
}

}  // namespace

void warn_of_law_range(StepContext& context, double time_step) {
  const contact::ModelParameters& parameters = context.options.parameters;
  const auto law = contact::find_normal_law(context.options.contact_model, parameters.normal_law);
  if (law != contact::NormalLawKind::custom || !parameters.custom_law) return;
  const contact::NormalLawTable* const table = parameters.custom_law->table();
  if (!table) return;
  Excess depth{.last = table->penetration.back()};
  Excess rate{.last = table->rate.empty() ? contact::kInfinity : table->rate.back()};
  const ContactReport& contacts = context.report.contacts;
  for (int c = 0; c < contacts.size(); ++c) {
    if (!(contacts.normal_impulse[c] > 0)) continue;
    const double speed = -contacts.normal_velocity[c];
    const double x = -contacts.distance[c] + time_step * speed;
    if (x > std::max(depth.value, depth.last)) depth = {c, x, depth.last};
    if (speed > std::max(rate.value, rate.last)) rate = {c, speed, rate.last};
  }
  if (depth.contact >= 0)
    context.report.warn(WarningKind::law_range, describe(context, depth, "penetration", "m"));
  if (rate.contact >= 0)
    context.report.warn(WarningKind::law_range, describe(context, rate, "rate", "m/s"));
}

}  // namespace stiction::sim
