#pragma once

#include "stiction/formulations/convex/elastic_stick.hpp"
#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/laws/chosen_law.hpp"
#include "stiction/laws/friction_regularization.hpp"
#include "stiction/laws/slip_norm.hpp"

/// The normal law and the friction regularization of a formulation, as a template argument.
/// DefaultLaws is known at compile time and needs no branch. ChosenLaws is any other pair, chosen
/// at run time.
namespace stiction::formulations {

/// Hunt-Crossley and the soft norm.
struct DefaultLaws {
  static constexpr bool kMayStick = false;
  using Normal = laws::HuntCrossley<Lanes>;
  template <int kSize>
  using Norm = laws::SoftNorm<kSize, Lanes>;
  struct Friction {
    template <int kSize>
    Norm<kSize> calc_norm(const Lanes* slip, const Lanes& tolerance) const {
      return {slip, tolerance};
    }
  };

  static Normal make_normal(const ContactStart& start, const ModelParameters& model) {
    return Normal::make(start, model);
  }
  static Friction make_friction(const ModelParameters&) { return {}; }
};

/// The laws that ModelParameters names.
struct ChosenLaws {
  static constexpr bool kMayStick = true;  // by the springs of `elastic`
  using Normal = laws::ChosenLaw<Lanes>;
  template <int kSize>
  using Norm = laws::SlipNorm<kSize, Lanes>;
  struct Friction {
    laws::ChosenSlipFunction function = contact::FrictionRegularizationKind::soft;
    Lanes shift[5]{};  // added to the slip under `elastic`, see ElasticStick
    template <int kSize>
    Norm<kSize> calc_norm(const Lanes* slip, const Lanes& tolerance) const {
      if (function.kind != contact::FrictionRegularizationKind::elastic)
        return {slip, tolerance, function};
      Lanes shifted[kSize];
      for (int i = 0; i < kSize; ++i) shifted[i] = slip[i] + shift[i];
      return {shifted, tolerance, function};
    }
  };

  static Normal make_normal(const ContactStart& start, const ModelParameters& model) {
    return Normal::make(start, model);
  }
  static Friction make_friction(const ModelParameters& model) {
    return {.function = {model.friction_law, model.custom_friction.get()}};
  }
};

/// True if the parameters name the default laws.
inline bool has_default_laws(const ModelParameters& model) {
  return model.normal_law == contact::NormalLawKind::hunt_crossley &&
         model.friction_law == contact::FrictionRegularizationKind::soft;
}

/// A formulation with a law that may have an impulse for some velocities only, as barriers have.
/// is_feasible tells where the impulse is that of the law itself. The normal law is the member
/// `normal` of Parameters, and can be extended linearly to all velocities.
template <class F>
concept HasDomain = requires(const typename F::Parameters& p, const Lanes3& v_c) {
  F::is_feasible(p, v_c);  // a mask
  requires laws::HasDomain<decltype(p.normal)>;
};

/// Returns the regularized norm of the tangential velocity.
/// @param p parameters with the members `friction` and `slip_tolerance`
auto calc_slip(const auto& p, const Lanes3& v_c) {
  const Lanes v_t[2] = {v_c.x, v_c.y};
  return p.friction.template calc_norm<2>(v_t, p.slip_tolerance);
}

}  // namespace stiction::formulations
