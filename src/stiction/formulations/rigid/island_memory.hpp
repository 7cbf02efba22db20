#pragma once

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::formulations {

/// Returns an upper bound of the memory that the matrices of an island take under a rigid model
/// [bytes]. A matrix has a number for each dof of the island in each of its rows, so the bound
/// grows with the square of the number of bodies in the island.
/// @param traits of a rigid model
double calc_island_memory(const contact::ContactProblem& problem, const contact::Islands& islands,
                          int island, const contact::ContactModelTraits& traits,
                          const contact::ModelParameters& parameters);

}  // namespace stiction::formulations
