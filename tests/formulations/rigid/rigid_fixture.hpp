#pragma once

#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Core>

#include "stiction/contact/gaps.hpp"
#include "stiction/contact/islands.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/rigid/reduced_system.hpp"
#include "stiction/formulations/rigid/rigid_iterate.hpp"
#include "support/random_problem.hpp"

namespace stiction::formulations {

/// One island of a problem, with everything that a rigid solve starts from.
struct RigidFixture {
  contact::ContactProblem problem;
  contact::Islands islands;
  std::vector<int> first_dof;
  RigidTerms terms;
  RigidIterate iterate;
  ReducedSystem system;

  RigidFixture(contact::ContactModel model, contact::ContactProblem given,
               const contact::ModelParameters& parameters = {}, int island = 0)
      : problem(std::move(given)) {
    contact::MomentumFactor factor;
    EXPECT_TRUE(factor.calc_derived(1, &problem));
    islands.find(problem);
    place_blocks(problem, islands, &first_dof);
    assemble_terms(problem, islands, island, first_dof, contact::traits(model), &terms);
    calc_gap_terms(terms, parameters, &iterate.gaps);
    iterate.sticking.start(terms, contact::holds_all_touching(model, parameters));
    start_whitening(islands, island, first_dof, terms, &system.whitened);
  }
  RigidFixture(const RigidFixture&) = delete;
  RigidFixture& operator=(const RigidFixture&) = delete;

  [[nodiscard]] bool whiten_all() {
    return whiten(terms, iterate, {}, &system.whitened) == contact::SolveStatus::kConverged;
  }

  /// The island's part of a vector or of the columns of a matrix over all dofs.
  template <class Matrix>
  Eigen::MatrixXd columns_of_island(const Matrix& whole) const {
    Eigen::MatrixXd part(whole.rows(), terms.num_dofs());
    for (int i = 0; i < terms.num_dofs(); ++i) part.col(i) = whole.col(terms.island.dofs()[i]);
    return part;
  }
};

/// A point of 1 kg that translates along three axes: the problem's velocities are [x, y, z].
/// @param v_star velocities without contacts and rows
inline contact::ContactProblem make_particle(const std::vector<double>& v_star, double dt = 1e-3) {
  contact::ContactProblem problem;
  problem.clear(dt);
  double* A = problem.diagonal(problem.add_block(3));
  for (int i = 0; i < 3; ++i) {
    A[4 * i] = 1;
    problem.free_impulse[i] = v_star[i];
  }
  return problem;
}

/// Adds a contact of the particle with a ground at rest, whose axes are those of the world.
inline contact::Contact& add_ground_contact(double phi0, double mu,
                                            contact::ContactProblem* problem) {
  contact::Segment segment;
  segment.block = 0;
  segment.first_column = static_cast<int>(problem->column_dof.size());
  segment.num_columns = 3;
  for (int dof = 0; dof < 3; ++dof) {
    problem->column_dof.push_back(dof);
    for (int k = 0; k < 6; ++k) problem->columns.push_back(k == 3 + dof ? 1 : 0);
  }
  contact::BodyPair pair;
  pair.first_segment = static_cast<int>(problem->segments.size());
  pair.num_segments = 1;
  pair.first_contact = problem->num_contacts();
  pair.num_contacts = 1;
  problem->segments.push_back(segment);
  problem->pairs.push_back(pair);
  contact::Contact& c = problem->contacts.emplace_back();
  c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.phi0 = phi0;
  c.friction = {mu, mu, 0, 0, 0};
  c.id = problem->contacts.size();
  return c;
}

/// Adds a row that acts on one dof.
inline contact::Row& add_row(contact::RowKind kind, int dof, double position,
                             contact::ContactProblem* problem, double column = 1) {
  contact::Row& row = problem->rows.emplace_back();
  row.kind = kind;
  row.regularization = 1;
  row.position = position;
  row.first_column = static_cast<int>(problem->row_dof.size());
  row.num_columns = 1;
  problem->row_dof.push_back(dof);
  problem->row_columns.push_back(column);
  return row;
}

/// A random problem with contacts that overlap, touch and have gaps, and rows of all kinds.
inline contact::ContactProblem make_rigid_problem(std::mt19937_64* rng) {
  support::RandomProblemOptions options;
  options.num_rows = 12;
  contact::ContactProblem problem = support::make_random_problem(options, rng);
  constexpr double kGaps[] = {0, -5e-4, 2e-4};
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    problem.contacts[i].phi0 = kGaps[i % 3];
    problem.contacts[i].law.viscous_friction = static_cast<double>(i % 4);
  }
  for (std::size_t i = 0; i < problem.rows.size(); ++i) {
    contact::Row& row = problem.rows[i];
    row.position = kGaps[i / 3 % 3];
    if (row.kind == contact::RowKind::kSpring && i % 2 == 0) row.kind = contact::RowKind::kEquality;
  }
  return problem;
}

}  // namespace stiction::formulations
