#include "stiction/formulations/convex/coulomb.hpp"

namespace stiction::formulations {

template <class Laws>
typename CoulombWith<Laws>::Parameters CoulombWith<Laws>::make_parameters(
    const ContactStart& start, const ModelParameters& model) {
  Parameters p;
  static_cast<typename Base::Parameters&>(p) = Base::make_parameters(start, model);
  p.mu = start.mu;
  p.normal_bound = NormalBound(start, model);
  set_normal_bound(p.normal.calc_start_impulse(start.v_c0.z), &p);
  return p;
}

template <class Laws>
void CoulombWith<Laws>::set_normal_bound(const Lanes& x, Parameters* p) {
  p->normal_bound.x = x;
  p->bound = p->mu * x;
  p->slip_tolerance = p->normal_bound.calc_slip_tolerance();
}

template <class Laws>
typename CoulombWith<Laws>::Torsion::Parameters CoulombWith<Laws>::make_torsion_parameters(
    const typename Torsion::Start& start, const ModelParameters& model) {
  typename Torsion::Parameters p;
  static_cast<typename LaggedTorsionWith<Laws>::Parameters&>(p) =
      LaggedTorsionWith<Laws>::make_parameters(start, model, math::broadcast(1));
  p.tolerance_scale = p.slip_tolerance;
  p.normal_bound = NormalBound(start, model);
  Torsion::set_normal_bound(p.normal.calc_start_impulse(start.v_c0.z), &p);
  return p;
}

template <class Laws>
void CoulombWith<Laws>::Torsion::set_normal_bound(const Lanes& x, Parameters* p) {
  p->normal_bound.x = x;
  p->gamma_n0 = x;
  p->slip_tolerance = p->tolerance_scale * p->normal_bound.calc_slip_tolerance();
}

template <class Laws>
void CoulombWith<Laws>::Torsion::calc_bound_derivative(const Parameters& p, const State& state,
                                                       Lanes derivative[6]) {
  constexpr int kNumSlips = LaggedTorsionWith<Laws>::kNumSlips;
  Lanes t[kNumSlips];
  p.normal_bound.template calc_derivative<kNumSlips>(state.slip, t);
  derivative[LaggedTorsionWith<Laws>::kNormalIndex] = Lanes{};
  for (int i = 0; i < kNumSlips; ++i)
    derivative[LaggedTorsionWith<Laws>::kSlipIndex[i]] = -p.mu[i] * t[i];
}

template struct CoulombWith<DefaultLaws>;
template struct CoulombWith<ChosenLaws>;

}  // namespace stiction::formulations
