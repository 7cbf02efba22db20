#include "stiction/formulations/rigid/gap_terms.hpp"

#include <algorithm>

namespace stiction::formulations {
namespace {

/// Returns the constant b of a position that must not be below 0, such as a gap or the distance to
/// a limit.
double calc_constant(double position, double time_step,
                     const contact::ModelParameters& parameters) {
  const double speed = position / time_step;
  return position > 0
             ? speed
             : std::max(parameters.gap_correction * speed, -parameters.max_correction_speed);
}

}  // namespace

void calc_gap_terms(const RigidTerms& terms, const contact::ModelParameters& parameters,
                    GapTerms* out) {
  const double dt = terms.problem->time_step;
  const double max_speed = parameters.max_correction_speed;
  const bool has_gaps = terms.gaps == contact::GapPolicy::kSpeculative;
  out->contacts.resize(terms.num_contacts());
  for (int i = 0; i < terms.num_contacts(); ++i) {
    const double b = calc_constant(terms.contact(i).phi0, dt, parameters);
    out->contacts[i] = has_gaps ? b : std::min(0.0, b);
  }
  out->limits.resize(terms.num_limits());
  for (int i = 0; i < terms.num_limits(); ++i)
    out->limits[i] = calc_constant(terms.row(terms.limits[i]).position, dt, parameters);
  out->equalities.resize(terms.num_equalities());
  for (int i = 0; i < terms.num_equalities(); ++i) {
    const double position = terms.row(terms.equalities[i]).position;
    out->equalities[i] =
        std::clamp(parameters.gap_correction * position / dt, -max_speed, max_speed);
  }
}

bool drop_overlap_corrections(GapTerms* gaps) {
  bool is_any = false;
  for (auto* constants : {&gaps->contacts, &gaps->limits}) {
    for (double& b : *constants) {
      is_any = is_any || b < 0;
      b = std::max(0.0, b);
    }
  }
  return is_any;
}

}  // namespace stiction::formulations
