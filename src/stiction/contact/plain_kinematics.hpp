#pragma once

#include <span>

#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/reference_laws.hpp"

/// Contact velocities, wrenches and products with A as plain loops, for the certificate: the solver
/// has its own.
namespace stiction::contact {

/// Motion of B relative to A at the pair's origin, [w; v] in the world, from the dofs' velocities.
void calc_pair_motion(const ContactProblem& problem, const BodyPair& pair,
                      std::span<const double> v, double V[6]);

/// v_c with its angular part.
ContactVector calc_contact_velocity(const Contact& c, const double V[6]);

/// F += a contact's impulse as a wrench [torque; force] about the pair's origin.
void add_contact_wrench(const Contact& c, const ContactVector& gamma, double F[6]);

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

}  // namespace stiction::contact
