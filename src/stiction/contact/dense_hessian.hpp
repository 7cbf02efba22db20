#pragma once

#include <span>
#include <vector>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::contact {

/// The Hessian of a step's cost at velocities v, for whoever studies its spectrum:
///
///     H = A + J^T G J,   G_i = -d gamma_i / d v_c,i.
///
/// G is made of differences of the reference laws, so that it shares nothing with the solver's and
/// holds for any model that has one; the solver never forms this matrix.
///
/// @param problem after MomentumFactor::calc_derived
/// @param model   a convex model
/// @param v       velocities [m/s, rad/s], size num_dofs
/// @return H, size (num_dofs x num_dofs), column-major [kg, kg m, kg m^2]; symmetric up to the
/// error
///         of the differences, about 1e-6 of a contact's own part
std::vector<double> calc_dense_hessian(const ContactProblem& problem, ContactModel model,
                                       const ModelParameters& parameters,
                                       std::span<const double> v);

}  // namespace stiction::contact
