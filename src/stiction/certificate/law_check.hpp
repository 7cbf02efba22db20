#pragma once

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/lanes.hpp"

namespace stiction::certificate {

using contact::Contact;
using contact::ContactModel;
using contact::kInfinity;

/// What the impulses given of a step leave to be wished, against those of the laws: the worst over
/// all contacts, taken four at a time.
class LawCheck {
 public:
  /// Contacts with three components and one coefficient of friction.
  /// @param given_torque   components three to five, which ought to be zero
  /// @param friction_bound mu times the normal bound; infinite: checked by add_contact [N s]
  /// @param count          lanes that hold a contact
  void add_quad(const math::Lanes3& law, const math::Lanes3& given,
                const math::Lanes3& given_torque, const math::Lanes& friction_bound, int count);
  /// A contact with torsion, rolling or unequal friction, all components.
  void add_contact(ContactModel model, const Contact& contact, const ReferenceImpulse& law,
                   const ContactVector& given);
  /// Energy that friction puts into contacts [J].
  void add_friction_work(const math::Lanes3& given, const math::Lanes3& v_c);
  void add_friction_work(double work);

  /// The largest impulse of a law, by which round-off is judged [N s].
  double scale() const { return largest(scale_); }
  double impulse_error() const { return largest(impulse_error_); }       // [N s]
  double min_normal_impulse() const { return -largest(minus_normal_); }  // [N s]
  double max_cone_excess() const { return largest(cone_excess_); }       // [N s], at least 0
  double max_friction_work() const { return largest(friction_work_); }   // [J], at least 0
  bool is_finite() const;

 private:
  static double largest(const math::Lanes& a);

  math::Lanes scale_{}, impulse_error_{}, cone_excess_{}, friction_work_{};
  math::Lanes minus_normal_ = math::broadcast(-kInfinity);
  math::Lanes sum_{};  // of magnitudes given: not finite if one is not
};

}  // namespace stiction::certificate
