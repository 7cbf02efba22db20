#pragma once

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/lanes.hpp"

namespace stiction::certificate {

using contact::kInfinity;

/// Compares the impulses of a solution with those that the contact laws prescribe, and keeps the
/// worst deviation over all contacts. It compares four contacts at a time.
class LawCheck {
 public:
  /// Up to four contacts, with the three components of their impulses.
  struct Quad {
    math::Lanes3 law;           // impulses that the laws prescribe [N s]
    math::Lanes3 given;         // impulses of the solution [N s]
    math::Lanes3 given_torque;  // their angular components, which should be zero [N m s]
    /// mu times the normal bound [N s]; infinite for contacts that add_contact compares.
    math::Lanes friction_bound;
    int count = 0;  // lanes that hold a contact
  };
  /// Compares the linear components of up to four contacts.
  void add_quad(const Quad& quad);
  /// Compares all six components of a contact with torsion, rolling or unequal friction.
  void add_contact(ContactModel model, const Contact& contact, const ReferenceImpulse& law,
                   const ContactVector& given);
  /// Records the energy that friction adds at up to four contacts with velocities v_c.
  void add_friction_work(const math::Lanes3& given, const math::Lanes3& v_c);
  /// Records the energy that friction adds at one contact [J].
  void add_friction_work(double work);

  /// Records calc_gain of up to four contacts with velocities v_c and without torsion.
  /// @param bias velocities of the surfaces, a part of v_c
  void add_gain(const math::Lanes3& law, const math::Lanes3& v_c, const math::Lanes3& bias);
  /// Records calc_gain of one contact [J].
  void add_gain(double gain);

  /// The largest impulse of a law, the scale of rounding errors [N s].
  double scale() const { return largest(scale_); }
  double impulse_error() const { return largest(impulse_error_); }       // [N s]
  double min_normal_impulse() const { return -largest(minus_normal_); }  // [N s]
  double max_cone_excess() const { return largest(cone_excess_); }       // [N s], at least 0
  double max_friction_work() const { return largest(friction_work_); }   // [J], at least 0
  double gain() const { return math::sum(gain_); }                       // [J], at least 0
  /// True if every impulse of the solution is finite.
  bool is_finite() const;

 private:
  static double largest(const math::Lanes& a);

  math::Lanes scale_{}, impulse_error_{}, cone_excess_{}, friction_work_{}, gain_{};
  math::Lanes minus_normal_ = math::broadcast(-kInfinity);
  math::Lanes sum_{};  // of the impulses' magnitudes; not finite if one of them is not
};

}  // namespace stiction::certificate
