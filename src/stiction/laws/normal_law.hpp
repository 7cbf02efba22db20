#pragma once

#include "stiction/contact/law_data.hpp"
#include "stiction/laws/curvature.hpp"
#include "stiction/math/lanes.hpp"

/// Normal laws as solvers evaluate them: discrete normal impulse n(v), its derivative and
/// potential. T is a double, or lanes of four contacts.
///
/// A law L is a struct template, an alternative of ChosenLaw. Its members are its parameters and
///
///     kKind                                its row in contact/normal_laws.hpp
///     make(LawStart, ModelParameters)      makes the law from contacts at the start of a step
///     calc_impulse(v)                      n and its slopes
///     calc_start_impulse(v0)               dt f of the state at the start of the step [N s]
///     calc_cost(v)                         l(v) [J]
///
/// No branch depends on a value, because lanes may differ; a law selects values instead.
namespace stiction::laws {

/// The data that laws read of contacts at the start of a step.
template <class T>
struct LawStart {
  double time_step = 0;  // [s]
  T fn0{};               // elastic force [N]
  T phi0{};              // signed distance [m]
  contact::ContactLawData<T> law{};
};

/// Value and slopes of n at one velocity. l = -N + N(v_hat) >= 0 is convex,
/// n = -dl/dv >= 0 and dn/dv <= 0.
template <class T>
struct NormalImpulse {
  T n{};       // [N s]
  T dn_dv{};   // [N s^2 / m]
  T secant{};  // n / (v_hat - v), where n reaches 0 at v_hat [N s^2 / m]

  T curvature(Curvature kind) const { return kind == Curvature::kExact ? -dn_dv : secant; }
};

}  // namespace stiction::laws
