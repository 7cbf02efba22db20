#pragma once

#include <vector>

#include "stiction/contact/contact_model.hpp"
#include "stiction/contact/contact_problem.hpp"
#include "stiction/contact/contact_solution.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/model_parameters.hpp"

namespace stiction::certificate {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::Islands;
using contact::ModelParameters;

/// A contact problem with its solution: all data of a certificate, owned by the caller.
struct SolvedStep {
  const ContactProblem& problem;  // after MomentumFactor::calc_derived
  const Islands& islands;         // of the problem
  ContactModel model;
  const ModelParameters& parameters;
  double relative_tolerance;       // the solver's, of the momentum residual [-]
  double absolute_tolerance;       // the solver's, of the momentum residual [sqrt(J)]
  double resolution = 0;           // the solver's, of bounds of friction; 0: relative_tolerance [-]
  double absolute_resolution = 0;  // the solver's, of bounds of friction [sqrt(J)]
  const ContactSolution& solution;
  /// False if the velocities stand for accelerations, which have no energy.
  bool has_energy = true;

  /// Returns the spring of a contact under the friction law `elastic`; null under other laws.
  const contact::Anchor* find_anchor(int contact) const {
    return has_anchors(parameters) ? &problem.anchors[contact] : nullptr;
  }
  /// True if the island's step was not divided into sub-steps.
  bool is_whole(int island) const { return solution.islands[island].num_substeps == 1; }
  /// Returns the island that a row acts on.
  int island_of_row(const contact::Row& row) const {
    return islands.island_of_block(islands.block_of_dof(problem.row_dof[row.first_column]));
  }
};

/// Sums J^T gamma over a step's contacts and rows, size num_dofs each [N s, N m s].
struct GeneralizedImpulses {
  std::vector<double> by_law;      // impulses that the laws prescribe at v
  std::vector<double> constraint;  // impulses reported, without springs
  std::vector<double> spring;      // impulses reported of springs, the caller's own forces

  void clear(int num_dofs) {
    for (auto* impulse : {&by_law, &constraint, &spring}) impulse->assign(num_dofs, 0.0);
  }
};

}  // namespace stiction::certificate
