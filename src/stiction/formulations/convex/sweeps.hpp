#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "stiction/formulations/convex/coupled_island.hpp"
#include "stiction/formulations/convex/solver_layout.hpp"
#include "stiction/math/scalar_functions.hpp"

/// Projected block Gauss-Seidel: each contact is solved by itself, with its own law, its own bound
/// and the mobility of its bodies, for the impulses of the others. A few sweeps over all contacts
/// find which of them press and which of them slide, which takes Newton's method most of its
/// iterations. They only choose its start. Source: [theory:sweeps].
namespace stiction::formulations {

/// A formulation whose friction has a bound, so that one contact has a closed solution.
template <class F>
concept HasFrictionBound = TakesTorsion<F> && requires(const typename F::Parameters& p) {
  p.bound[0];
  p.slip_tolerance[0];
  p.normal.calc_impulse(Lanes{});
};

/// The changes of a sweep, as energies [J].
struct SweepChange {
  double change2 = 0, size2 = 0;
  /// True if another sweep would change little.
  bool is_small() const {
    constexpr double kSmall = 1e-6;
    return change2 <= kSmall * size2;
  }
};

/// The friction of one contact: |gamma_i / mu_i| <= bound.
struct SweptFriction {
  static constexpr int kTwoSlips[] = {0, 1};
  double bound = 0;      // [N s]
  double tolerance = 0;  // slip mu u up to which the contact sticks [m/s]
  int size = 2;
  const int* components = kTwoSlips;
  std::array<double, kMaxSlips> mu{};    // relative to the bound
  std::array<double, kMaxSlips> bias{};  // of the slip
};

template <class F>
SweptFriction read_friction(const ContactBatch<F>& batch, int lane, double normal_impulse) {
  const auto& p = batch.parameters;
  SweptFriction out = {.bound = p.bound[lane],
                       .tolerance = p.slip_tolerance[lane],
                       .mu = {1, 1},
                       .bias = {batch.frame.bias.x[lane], batch.frame.bias.y[lane]}};
  if constexpr (HasNormalBound<F>) {
    out.bound = p.mu[lane] * normal_impulse;
    out.tolerance = p.normal_bound.calc_slip_tolerance_of(normal_impulse, lane);
  }
  if constexpr (requires { p.friction.shift[0]; })
    for (int k = 0; k < 2; ++k) out.bias[k] += p.friction.shift[k][lane];
  return out;
}

template <class F>
SweptFriction read_friction(const TorsionBatch<typename F::Torsion>& batch, int lane,
                            double normal_impulse) {
  const auto& p = batch.parameters;
  const BatchFrame& frame = batch.frame;
  SweptFriction out = {.bound = p.gamma_n0[lane],
                       .tolerance = p.slip_tolerance[lane],
                       .size = F::Torsion::kNumSlips,
                       .components = F::Torsion::kSlipIndex,
                       .bias = {frame.bias.x[lane], frame.bias.y[lane], frame.spin_bias[lane]}};
  for (int k = 0; k < out.size; ++k) out.mu[k] = p.mu[k][lane];
  if constexpr (HasNormalBound<F>) {
    out.bound = normal_impulse;
    out.tolerance =
        p.tolerance_scale[lane] * p.normal_bound.calc_slip_tolerance_of(normal_impulse, lane);
  }
  if constexpr (requires { p.friction.shift[0]; })
    for (int k = 0; k < out.size; ++k)
      if (out.mu[k] > 0) out.bias[k] += p.friction.shift[k][lane] / out.mu[k];
  return out;
}

/// Sets component k of a contact or row.
void set_swept_impulse(auto& at, int k, double impulse, SweepChange* change) {
  const double w = at.mobility(k), step = impulse - at.impulse(k);
  change->change2 += w * step * step;
  change->size2 += w * impulse * impulse;
  if (step != 0) at.set_impulse(k, impulse);
}

/// Solves the normal law: by a secant, which is exact for the hardest laws, then by one step of
/// Newton's method.
/// @return the normal impulse [N s]
double sweep_normal(const auto& batch, int lane, auto& at, SweepChange* change) {
  constexpr int kNormal = 2;
  const double w = at.mobility(kNormal);
  const double free = at.velocity(kNormal) + batch.frame.bias.z[lane] - w * at.impulse(kNormal);
  const auto calc = [&](double v) {
    return batch.parameters.normal.calc_impulse(math::broadcast(v));
  };
  const auto first = calc(free);
  double impulse = first.n[lane] / (1 + w * first.secant[lane]);
  if (impulse > 0) {
    const double v = free + w * impulse;
    const auto next = calc(v);
    const double slope = next.dn_dv[lane];
    impulse = std::max(0.0, (next.n[lane] + slope * (free - v)) / (1 - slope * w));
  }
  set_swept_impulse(at, kNormal, impulse, change);
  return impulse;
}

/// Solves one contact of a batch.
/// @param at its components k: velocity(k) without bias, impulse(k), mobility(k) and
///           set_impulse(k, impulse), which also moves the velocities
template <class F>
void sweep_contact(const auto& batch, int lane, auto&& at, SweepChange* change) {
  const SweptFriction friction =
      read_friction<F>(batch, lane, sweep_normal(batch, lane, at, change));
  // An elastic step of each component, cut at the bound. Both tangential components have the same
  // mobility, so that friction opposes the slip.
  const double w_slip = 0.5 * (at.mobility(0) + at.mobility(1));
  std::array<double, kMaxSlips> impulse{};
  double length2 = 0;
  for (int k = 0; k < friction.size && friction.bound > 0; ++k) {
    const double mu = friction.mu[k];
    if (!(mu > 0)) continue;
    const int component = friction.components[k];
    const double w = k < 2 ? w_slip : at.mobility(component);
    const double free = at.velocity(component) + friction.bias[k] - w * at.impulse(component);
    // u = -gamma tolerance / (bound mu^2) where the contact sticks
    impulse[k] = -free / (w + friction.tolerance / (friction.bound * mu * mu));
    length2 += math::square(impulse[k] / mu);
  }
  const double limit2 = friction.bound * friction.bound;
  const double cut = length2 > limit2 ? std::sqrt(limit2 / length2) : 1;
  for (int k = 0; k < friction.size; ++k)
    set_swept_impulse(at, friction.components[k], cut * impulse[k], change);
}

}  // namespace stiction::formulations
