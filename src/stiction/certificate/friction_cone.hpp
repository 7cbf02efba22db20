#pragma once

#include <algorithm>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/math/scalar_functions.hpp"

/// Coulomb's law with the circular cone as one equation, computed from its definition.
/// Source: [desaxce1998], [theory:friction-cone].
namespace stiction::certificate {

/// Replaces x by the nearest point of the friction cone K = { |x_t| <= mu x_n }.
/// Rows are t1, t2, n.
inline void project_on_friction_cone(double mu, double x[3]) {
  const double friction = math::hypot(x[0], x[1]);
  if (friction <= mu * x[2]) return;
  // x lies in the polar cone, whose nearest point is the tip, or the nearest point lies on the
  // surface of K.
  const double normal = std::max(0.0, (x[2] + mu * friction) / (1 + mu * mu));
  for (int t = 0; t < 2; ++t) x[t] *= friction > 0 ? mu * normal / friction : 0;
  x[2] = normal;
}

/// Returns the natural residual of a contact [m/s]:
///
///     w |gamma - P(gamma - u / w)| / max(1, mu),   u = v_c + (b + mu |v_t|) n,
///
/// where P is the projection on the friction cone. It is zero only if gamma and v_c satisfy
/// Signorini's conditions and Coulomb's law. A slip by which the contact misses the law is
/// multiplied by mu in u, so the residual is divided by mu where that is above 1.
/// @param mobility w > 0 [1/kg]
/// @param b        gap speed of the contact [m/s]
inline double calc_cone_residual(const ContactVector& gamma, const ContactVector& v, double b,
                                 double mu, double mobility) {
  const double u[3] = {v[0], v[1], v[2] + b + mu * math::hypot(v[0], v[1])};
  double x[3];
  for (int i = 0; i < 3; ++i) x[i] = gamma[i] - u[i] / mobility;
  project_on_friction_cone(mu, x);
  return mobility * math::hypot(gamma[0] - x[0], gamma[1] - x[1], gamma[2] - x[2]) /
         std::max(1.0, mu);
}

}  // namespace stiction::certificate
