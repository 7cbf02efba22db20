#pragma once

#include <vector>

#include "stiction/certificate/certificate.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/certificate/solved_step.hpp"
#include "stiction/certificate/substep_check.hpp"
#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/lanes.hpp"

namespace stiction::certificate {

using contact::kInfinity;

/// Compares the impulses of a solution with those of the laws, four contacts at a time.
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

/// Evaluates the laws of a compliant model at a solution, and compares their impulses.
class ImpulseCheck {
 public:
  /// Evaluates and compares all contacts and rows.
  /// @param substeps the check of the same step, with the laws' impulses in divided islands
  /// @param impulses out: the impulses of all contacts and rows are added to it
  void calc(const SolvedStep& step, const SubstepCheck& substeps, GeneralizedImpulses* impulses);

  /// Writes impulse_error, min_normal_impulse, max_cone_excess and max_friction_work.
  void write(const SolvedStep& step, Certificate* out) const;
  /// The largest impulse of a law, the scale of rounding errors [N s].
  double scale() const;
  /// The energy that springs and moving surfaces may add in islands that were solved whole [J].
  double gain() const;
  /// The largest Delassus size of a contact [1/kg].
  double max_w() const { return max_w_; }
  /// True if every impulse of the solution is finite.
  bool is_finite() const { return contacts_.is_finite() && rows_.is_finite; }
  /// The normal impulse that the law prescribes for each contact [N s].
  const std::vector<double>& normal_impulses() const { return normal_impulses_; }
  /// The normal impulse that bounds each contact's friction [N s], see ReferenceImpulse.
  const std::vector<double>& normal_bounds() const { return normal_bounds_; }

 private:
  struct PairView;
  struct Wrenches;
  void add_pair(const SolvedStep& step, const SubstepCheck& substeps, const contact::BodyPair& pair,
                GeneralizedImpulses* impulses);
  void add_quad(const PairView& pair, int first, int count, Wrenches* wrenches);
  void add_rows(const SolvedStep& step, const SubstepCheck& substeps,
                GeneralizedImpulses* impulses);

  LawCheck contacts_;
  struct {
    double scale = 0, impulse_error = 0;  // [N s]
    double gain = 0;                      // [J]
    bool is_finite = true;
  } rows_;
  double max_w_ = 0;
  std::vector<double> normal_impulses_, normal_bounds_;
};

/// Checks the properties that impulses have in every model: they are finite, they follow their
/// laws, contacts do not pull, and friction is within its bound.
/// @param certificate holds the errors of the impulses
/// @param tolerance   limit of each error [N s]
void judge_impulses(const Certificate& certificate, bool is_finite, double tolerance,
                    Verdict* verdict);

}  // namespace stiction::certificate
