#include "stiction/certificate/law_check.hpp"

#include <algorithm>
#include <cmath>

namespace stiction::certificate {

using contact::traits;

namespace {

using math::Lanes;
using math::Lanes3;

constexpr int kSlip[5] = {0, 1, 3, 4, 5};  // components of friction: tangents, torsion, rolling

/// Returns how far a friction impulse is outside the model's ellipsoid
/// sum (gamma_i / mu_i)^2 <= bound^2, scaled by the largest coefficient [N s].
double calc_cone_excess(ContactModel model, const Contact& c, const ContactVector& gamma,
                        double bound) {
  double largest = 0, ratio2 = 0, forbidden2 = 0;
  for (int i = 0; i < 5; ++i) {
    const bool has_slip = i < c.dim - 1 && (i < 2 || traits(model).takes_torsion);
    const double own = traits(model).takes_torsion ? c.friction[i] : c.sliding_friction();
    const double mu = has_slip ? own : 0;
    const double g = gamma[kSlip[i]];
    largest = std::max(largest, mu);
    (mu > 0 ? ratio2 : forbidden2) += mu > 0 ? (g / mu) * (g / mu) : g * g;
  }
  return largest * (std::sqrt(ratio2) - bound) + std::sqrt(forbidden2);
}

Lanes abs(const Lanes& a) { return math::max(a, -a); }
Lanes squared_norm(const Lanes3& a) { return a.x * a.x + a.y * a.y + a.z * a.z; }
Lanes largest_component(const Lanes3& a) {
  return math::max(abs(a.x), math::max(abs(a.y), abs(a.z)));
}

}  // namespace

void LawCheck::add_quad(const Quad& quad) {
  const Lanes3 &law = quad.law, &given = quad.given, &given_torque = quad.given_torque;
  const Lanes3 error = {given.x - law.x, given.y - law.y, given.z - law.z};
  scale_ = math::max(largest_component(law), scale_);
  // add_contact compares the angular components of the contacts that have them.
  const Lanes torque_error =
      quad.friction_bound < kInfinity ? largest_component(given_torque) : Lanes{};
  impulse_error_ = math::max(math::max(largest_component(error), torque_error), impulse_error_);
  // The maxima above ignore a NaN; the sum keeps it.
  sum_ += abs(given.x) + abs(given.y) + abs(given.z) + squared_norm(given_torque);
  Lanes minus_normal = -given.z;
  for (int lane = quad.count; lane < math::kNumLanes; ++lane) minus_normal[lane] = -kInfinity;
  minus_normal_ = math::max(minus_normal, minus_normal_);
  const Lanes friction = math::sqrt(given.x * given.x + given.y * given.y);
  const Lanes excess = friction - quad.friction_bound + math::sqrt(squared_norm(given_torque));
  cone_excess_ = math::max(excess, cone_excess_);
}

void LawCheck::add_friction_work(const Lanes3& given, const Lanes3& v_c) {
  friction_work_ = math::max(given.x * v_c.x + given.y * v_c.y, friction_work_);
}

void LawCheck::add_friction_work(double work) {
  friction_work_[0] = std::max(friction_work_[0], work);
}

void LawCheck::add_gain(const Lanes3& law, const Lanes3& v_c, const Lanes3& bias) {
  const Lanes normal = law.z * v_c.z, friction = law.x * v_c.x + law.y * v_c.y;
  const Lanes surface = -(law.x * bias.x + law.y * bias.y + law.z * bias.z);
  gain_ += math::max(normal, Lanes{}) + math::max(friction, Lanes{}) + math::max(surface, Lanes{});
}

void LawCheck::add_gain(double gain) { gain_[0] += gain; }

void LawCheck::add_contact(ContactModel model, const Contact& c, const ReferenceImpulse& law,
                           const ContactVector& given) {
  for (int e = 0; e < 6; ++e) {
    sum_[0] += std::abs(given[e]);
    scale_[0] = std::max(scale_[0], std::abs(law.gamma[e]));
    impulse_error_[0] = std::max(impulse_error_[0], std::abs(given[e] - law.gamma[e]));
  }
  cone_excess_[0] = std::max(cone_excess_[0], calc_cone_excess(model, c, given, law.normal_bound));
}

double LawCheck::largest(const Lanes& a) {
  return std::max(std::max(a[0], a[1]), std::max(a[2], a[3]));
}

bool LawCheck::is_finite() const { return std::isfinite(math::sum(sum_)); }

}  // namespace stiction::certificate
