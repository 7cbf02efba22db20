#include "stiction/formulations/convex/coulomb.hpp"

namespace stiction::formulations {

template <class Laws>
typename CoulombWith<Laws>::Row CoulombWith<Laws>::make_row(const ContactStart& start,
                                                            const ModelParameters& parameters) {
  Row row;
  static_cast<typename Base::Row&>(row) = Base::make_row(start, parameters);
  row.mu = start.mu;
  row.normal_bound = NormalBound(start, parameters);
  set_normal_bound(row.normal.calc_start_impulse(start.v_c0.z), &row);
  return row;
}

template <class Laws>
void CoulombWith<Laws>::set_normal_bound(const Lanes& x, Row* row) {
  row->normal_bound.x = x;
  row->bound = row->mu * x;
  row->slip_tolerance = row->normal_bound.calc_slip_tolerance();
}

template <class Laws>
typename CoulombWith<Laws>::Torsion::Row CoulombWith<Laws>::make_torsion_row(
    const typename Torsion::Start& start, const ModelParameters& parameters) {
  typename Torsion::Row row;
  static_cast<typename LaggedTorsionWith<Laws>::Row&>(row) =
      LaggedTorsionWith<Laws>::make_row(start, parameters, math::broadcast(1));
  row.tolerance_scale = row.slip_tolerance;
  row.normal_bound = NormalBound(start, parameters);
  Torsion::set_normal_bound(row.gamma_n0, &row);
  return row;
}

template <class Laws>
void CoulombWith<Laws>::Torsion::set_normal_bound(const Lanes& x, Row* row) {
  row->normal_bound.x = x;
  row->gamma_n0 = x;
  row->slip_tolerance = row->tolerance_scale * row->normal_bound.calc_slip_tolerance();
}

template <class Laws>
void CoulombWith<Laws>::Torsion::calc_bound_derivative(const Row& row, const State& state,
                                                       Lanes derivative[6]) {
  constexpr int kNumSlips = LaggedTorsionWith<Laws>::kNumSlips;
  Lanes t[kNumSlips];
  row.normal_bound.template calc_derivative<kNumSlips>(state.slip, t);
  derivative[LaggedTorsionWith<Laws>::kNormalIndex] = Lanes{};
  for (int i = 0; i < kNumSlips; ++i)
    derivative[LaggedTorsionWith<Laws>::kSlipIndex[i]] = -row.mu[i] * t[i];
}

template struct CoulombWith<DefaultLaws>;
template struct CoulombWith<ChosenLaws>;

}  // namespace stiction::formulations
