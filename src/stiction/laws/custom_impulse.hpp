#pragma once

#include "stiction/base/assert.hpp"
#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/model_parameters.hpp"
#include "stiction/laws/normal_law.hpp"
#include "stiction/math/elementary.hpp"

namespace stiction::laws {

using contact::CustomLaw;

/// A custom law at one contact, or at four contacts.
template <class T>
struct Custom {
  static constexpr auto kKind = contact::NormalLawKind::custom;
  const CustomLaw* law = nullptr;
  T dt{};  // [s]
  T x0{};  // penetration at the start of the step [m]

  static Custom make(const LawStart<T>& start, const contact::ModelParameters& parameters) {
    return {.law = parameters.custom_law.get(),
            .dt = math::broadcast_to<T>(start.time_step),
            .x0 = -start.phi0};
  }

  NormalImpulse<T> calc_impulse(const T& v) const {
    STICTION_ASSERT(law != nullptr);
    NormalImpulse<T> out;
    for (int i = 0; i < math::count_lanes<T>(); ++i) {
      const double h = math::get_lane(dt, i), v_i = math::get_lane(v, i);
      const contact::NormalForce at = law->calc_force(math::get_lane(x0, i) - h * v_i, -v_i);
      math::set_lane(&out.n, i, h * at.f);
      math::set_lane(&out.dn_dv, i, -h * (h * at.df_dx + at.df_dxdot));
    }
    out.secant = -out.dn_dv;  // the velocity at which n vanishes is not known
    return out;
  }

  /// Computes dt f of the state at the start of the step, which bounds lagged friction.
  T calc_start_impulse(const T& v0) const {
    T out{};
    for (int i = 0; i < math::count_lanes<T>(); ++i) {
      const double f = law->calc_force(math::get_lane(x0, i), -math::get_lane(v0, i)).f;
      math::set_lane(&out, i, math::get_lane(dt, i) * f);
    }
    return out;
  }

  T calc_cost(const T& v) const {
    T out{};
    for (int i = 0; i < math::count_lanes<T>(); ++i)
      math::set_lane(&out, i,
                     integrate_impulse(*law, math::get_lane(dt, i), math::get_lane(x0, i),
                                       math::get_lane(v, i)));
    return out;
  }
};

}  // namespace stiction::laws
