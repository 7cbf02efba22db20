#pragma once

#include <array>
#include <span>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/math/lanes.hpp"

/// Contact velocities, wrenches and products with A, for the certificate: the solver has its own.
namespace stiction::certificate {

using contact::BodyPair;
using contact::Contact;
using contact::ContactProblem;
using contact::Row;

/// Motion of B relative to A at the pair's origin, [w; v] in the world, from the dofs' velocities.
void calc_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                      std::span<const double> v, double V[6]);

/// v_c with its angular part.
ContactVector calc_contact_velocity(const Contact& c, const double V[6]);

/// Both in long doubles, from velocities v + v_rest; v_c is rounded at the end.
void calc_fine_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                           std::span<const double> v, std::span<const double> v_rest,
                           long double V[6]);
ContactVector calc_fine_contact_velocity(const Contact& c, const long double V[6]);

/// F += a contact's impulse as a wrench [torque; force] about the pair's origin.
void add_contact_wrench(const Contact& c, const ContactVector& gamma, double F[6]);

/// The part of it that is torsional and rolling impulse.
void add_contact_torque(const Contact& c, const ContactVector& gamma, double F[6]);

/// Up to four contacts that follow each other in one pair, side by side.
class ContactQuad {
 public:
  /// @param count 1 to 4 contacts from `first`
  ContactQuad(const Contact* first, int count);
  /// v_c of the linear components, for the pair's motion V.
  math::Lanes3 calc_velocity(const double V[6]) const;
  /// Its normal component alone.
  math::Lanes calc_normal_velocity(const double V[6]) const;
  /// The linear components of impulses, given by contact; zero where there is none.
  math::Lanes3 read_impulses(const ContactVector* gamma) const;
  /// The angular components.
  math::Lanes3 read_torques(const ContactVector* gamma) const;
  /// F += the wrench of linear impulses.
  void add_wrench(const math::Lanes3& gamma, double F[6]) const;

 private:
  math::FourLanes read(const ContactVector* gamma, int first) const;

  math::Lanes3 t1_, t2_, n_;  // zero where there is no contact
  math::Lanes3 r_, bias_;
  int count_;
};

/// f += J^T F.
void add_pair_force(const ContactProblem& problem, const BodyPair& pair, const double F[6],
                    std::span<double> f);

/// v_r = J v.
double calc_row_velocity(const ContactProblem& problem, const Row& row, std::span<const double> v);

/// f += J^T gamma.
void add_row_force(const ContactProblem& problem, const Row& row, double gamma,
                   std::span<double> f);

/// y += A x.
void add_A_product(const ContactProblem& problem, std::span<const double> x, std::span<double> y);

}  // namespace stiction::certificate
