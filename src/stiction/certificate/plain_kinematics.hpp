#pragma once

#include <array>
#include <span>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/math/lanes.hpp"
#include "stiction/math/six.hpp"

/// The certificate's own velocities, wrenches and products with A, in plain loops.
namespace stiction::certificate {

using contact::BodyPair;
using contact::Contact;
using contact::ContactProblem;
using contact::Row;

/// Computes the motion of B relative to A at the pair's origin, [w; v] in the world frame.
/// @param v velocities of the dofs, size num_dofs
void calc_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                      std::span<const double> v, double V[6]);

/// Computes v_c, with its angular part, from the pair's motion [m/s, rad/s].
ContactVector calc_contact_velocity(const Contact& c, const double V[6]);

/// Computes the pair's motion with the digits of two doubles, from the velocities v + v_low.
void calc_compensated_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                                  std::span<const double> v, std::span<const double> v_low,
                                  math::DoubleDouble V[6]);
/// Computes v_c from such a motion, and rounds it at the end.
ContactVector calc_compensated_contact_velocity(const Contact& c, const math::DoubleDouble V[6]);

/// Adds a contact's impulse to F, a wrench [torque; force] about the pair's origin.
void add_contact_wrench(const Contact& c, const ContactVector& gamma, double F[6]);

/// Adds the torsional and rolling part of a contact's impulse to F.
void add_contact_torque(const Contact& c, const ContactVector& gamma, double F[6]);

/// One to four consecutive contacts of a pair, side by side.
class ContactQuad {
 public:
  /// @param first the first contact
  /// @param count number of contacts, 1 to 4
  ContactQuad(const Contact* first, int count);
  /// Computes the linear components of v_c from the pair's motion V.
  math::Lanes3 calc_velocity(const double V[6]) const;
  /// Computes the normal component alone.
  math::Lanes calc_normal_velocity(const double V[6]) const;
  /// Returns the linear components of the contacts' impulses; zero in lanes without a contact.
  /// @param gamma impulses of the contacts, from the first one on
  math::Lanes3 read_impulses(const ContactVector* gamma) const;
  /// Returns the angular components of the contacts' impulses.
  math::Lanes3 read_torques(const ContactVector* gamma) const;
  /// The velocities of moving surfaces, which are part of the velocities.
  const math::Lanes3& bias() const { return bias_; }
  /// Adds the wrench of linear impulses to F.
  void add_wrench(const math::Lanes3& gamma, double F[6]) const;

 private:
  math::FourLanes read(const ContactVector* gamma, int first) const;

  math::Lanes3 t1_, t2_, n_;  // zero in lanes without a contact
  math::Lanes3 r_, bias_;
  int count_;
};

/// Adds J^T F of a pair to the generalized impulse f, size num_dofs.
void add_pair_force(const ContactProblem& problem, const BodyPair& pair, const double F[6],
                    std::span<double> f);

/// Computes v_r = J v + b of a row.
double calc_row_velocity(const ContactProblem& problem, const Row& row, std::span<const double> v);

/// Returns the mobility J diag(A)^-1 J^T of a row, which converts its impulse to a velocity.
double calc_row_mobility(const ContactProblem& problem, const contact::Islands& islands,
                         const Row& row);

/// Returns the mobility J diag(M)^-1 J^T that a row has without the dampers and springs in A.
double calc_inertial_mobility(const ContactProblem& problem, const contact::Islands& islands,
                              const Row& row);

/// Adds J^T gamma of a row to f.
void add_row_force(const ContactProblem& problem, const Row& row, double gamma,
                   std::span<double> f);

/// Adds A x to y.
void add_A_product(const ContactProblem& problem, std::span<const double> x, std::span<double> y);

}  // namespace stiction::certificate
