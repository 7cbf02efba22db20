#include "stiction/formulations/rigid/gap_terms.hpp"

#include <algorithm>
#include <cmath>

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

/// Returns the constant b of an equality, whose error is corrected in either direction. The limit
/// of the speed holds for all components of the error together.
double calc_equality_constant(const contact::Row& row, double time_step,
                              const contact::ModelParameters& parameters) {
  const double speed = parameters.gap_correction * row.position / time_step;
  const double whole =
      parameters.gap_correction * std::max(row.error_norm, std::abs(row.position)) / time_step;
  return whole > parameters.max_correction_speed ? speed * (parameters.max_correction_speed / whole)
                                                 : speed;
}

}  // namespace

void calc_gap_terms(const RigidTerms& terms, const contact::ModelParameters& parameters,
                    GapTerms* out) {
  const double dt = terms.problem->time_step;
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
  for (int i = 0; i < terms.num_equalities(); ++i)
    out->equalities[i] = calc_equality_constant(terms.row(terms.equalities[i]), dt, parameters);
}

void scale_corrections(double factor, GapTerms* gaps) {
  for (auto* constants : {&gaps->contacts, &gaps->limits})
    for (double& b : *constants) b = b < 0 ? factor * b : b;
  for (double& b : gaps->equalities) b *= factor;
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
