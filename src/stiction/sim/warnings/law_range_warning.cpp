#include "stiction/sim/warnings/law_range_warning.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "stiction/contact/law_tables.hpp"

namespace stiction::sim {
namespace {

/// A contact whose argument of the law is beyond a table.
struct Excess {
  int contact = -1;
  double value = 0, last = 0;  // the argument, and the last entry of the table
};

/// Describes an argument and the last entry of its table, of the geoms ids[0] and ids[1].
/// @param facts.ids[2] 1: the argument is a rate, otherwise a penetration
std::string describe_law_range(const plant::ElementNames& names, const WarningFacts& facts) {
  const bool is_rate = facts.ids[2];
  const char* const unit = is_rate ? "m/s" : "m";
  char text[300];
  std::snprintf(text, sizeof text,
                " touch with a %s of %.3g %s, but the table of the normal law ends at %.3g %s: the "
                "force continues along the table's tangent; extend the table",
                is_rate ? "rate" : "penetration", facts.numbers[0], unit, facts.numbers[1], unit);
  return names.describe(mjOBJ_GEOM, facts.ids[0]) + " and " +
         names.describe(mjOBJ_GEOM, facts.ids[1]) + text;
}

void warn(const Excess& excess, bool is_rate, StepOutputs* out) {
  if (excess.contact < 0) return;
  const int* geoms = &out->report.contacts.geoms[2 * excess.contact];
  out->warn(WarningKind::law_range, {.describe = describe_law_range,
                                     .ids = {geoms[0], geoms[1], is_rate},
                                     .numbers = {excess.value, excess.last}});
}

}  // namespace

void warn_of_law_range(const StepInputs& in, double time_step, StepOutputs* out) {
  const contact::ModelParameters& parameters = in.options.parameters;
  const auto law = contact::find_normal_law(in.options.contact_model, parameters.normal_law);
  if (law != contact::NormalLawKind::custom || !parameters.custom_law) return;
  const contact::NormalLawTable* const table = parameters.custom_law->table();
  if (!table) return;
  Excess depth{.last = table->penetration.back()};
  Excess rate{.last = table->rate.empty() ? contact::kInfinity : table->rate.back()};
  const ContactReport& contacts = out->report.contacts;
  for (int c = 0; c < contacts.size(); ++c) {
    if (!(contacts.normal_impulse[c] > 0)) continue;
    const double speed = -contacts.normal_velocity[c];
    const double x = -contacts.distance[c] + time_step * speed;
    if (x > std::max(depth.value, depth.last)) depth = {c, x, depth.last};
    if (speed > std::max(rate.value, rate.last)) rate = {c, speed, rate.last};
  }
  warn(depth, false, out);
  warn(rate, true, out);
}

}  // namespace stiction::sim
