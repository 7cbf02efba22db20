#pragma once

#include "stiction/formulations/convex/formulation.hpp"
#include "stiction/laws/chosen_law.hpp"
#include "stiction/laws/friction_regularization.hpp"
#include "stiction/laws/slip_norm.hpp"

/// Which normal law and which friction regularization a formulation has. The default pair is known
/// when compiled, so that it costs no branch; all others are one pair that is chosen at run time.
namespace stiction::formulations {

/// Hunt-Crossley and the soft norm.
struct DefaultLaws {
  using Normal = laws::HuntCrossley<Lanes>;
  template <int kSize>
  using Norm = laws::SoftNorm<kSize, Lanes>;
  struct Friction {
    template <int kSize>
    Norm<kSize> calc_norm(const Lanes* slip, const Lanes& tolerance) const {
      return {slip, tolerance};
    }
  };

  static Normal make_normal(const ContactStart& start, const ModelParameters& parameters) {
    return Normal::make(start, parameters);
  }
  static Friction make_friction(const ModelParameters&) { return {}; }
};

/// The laws that ModelParameters names.
struct ChosenLaws {
  using Normal = laws::ChosenLaw<Lanes>;
  template <int kSize>
  using Norm = laws::SlipNorm<kSize, Lanes>;
  struct Friction {
    contact::FrictionRegularizationKind kind{};
    template <int kSize>
    Norm<kSize> calc_norm(const Lanes* slip, const Lanes& tolerance) const {
      return {slip, tolerance, kind};
    }
  };

  static Normal make_normal(const ContactStart& start, const ModelParameters& parameters) {
    return Normal::make(start, parameters);
  }
  static Friction make_friction(const ModelParameters& parameters) {
    return {parameters.friction_law};
  }
};

/// True if the parameters name the default laws.
inline bool has_default_laws(const ModelParameters& parameters) {
  return parameters.normal_law == contact::NormalLawKind::hunt_crossley &&
         parameters.friction_law == contact::FrictionRegularizationKind::soft;
}

/// A formulation whose impulses may exist for some velocities only; is_feasible says for which they
/// are the law's own. Its row has the normal law, `normal`, which can be softened.
template <class F>
concept HasDomain = requires(const typename F::Row& row, const Lanes3& v_c) {
  F::is_feasible(row, v_c);  // a mask
  requires laws::HasDomain<decltype(row.normal)>;
};

/// The regularized norm of the tangential velocity, of a row with `friction` and `slip_tolerance`.
auto calc_slip(const auto& row, const Lanes3& v_c) {
  const Lanes v_t[2] = {v_c.x, v_c.y};
  return row.friction.template calc_norm<2>(v_t, row.slip_tolerance);
}

}  // namespace stiction::formulations
