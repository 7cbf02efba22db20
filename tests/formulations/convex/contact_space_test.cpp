#include <functional>
#include <random>
#include <span>

#include <gtest/gtest.h>

#include "stiction/contact/momentum_factor.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "support/dense_problem.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::contact_space_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::SolveStatus;
using support::kSanitized;
using support::make_completed_problem;
using support::num_trials;
using support::to_vector;

/// Trees and bodies with few constraints beside their dofs.
ContactProblem make_sparse_problem(int trial, std::mt19937_64* rng) {
  return make_completed_problem({.num_bodies = trial % 3,
                                 .num_trees = 1 + trial % 3,
                                 .num_pairs = 1 + trial % 3,
                                 .num_rows = trial % 4},
                                rng);
}

ContactSolution solve(const ContactProblem& problem, ContactModel model,
                      const SolverOptions& options, std::span<const double> guess = {}) {
  contact::Islands islands;
  islands.find(problem);
  ContactSolution solution;
  make_contact_solver(model)->solve(problem, islands, options, guess, nullptr, &solution);
  return solution;
}

int count_used(const ContactSolution& solution) {
  int num = 0;
  for (const auto& island : solution.islands) num += island.uses_contact_space;
  return num;
}
int count_left(const ContactSolution& solution) {
  int num = 0;
  for (const auto& island : solution.islands) num += island.leaves_contact_space;
  return num;
}

/// The largest difference of two solutions in the norm of A, relative to the motion.
double compare(const ContactProblem& problem, const ContactSolution& a, const ContactSolution& b) {
  const support::DenseProblem dense(problem);
  const auto v = to_vector(a.v);
  return dense.calc_norm(v - to_vector(b.v)) / dense.calc_norm(v);
}

class ContactSpace : public testing::TestWithParam<ContactModel> {
 protected:
  /// Solves problems in both spaces and compares the solutions.
  void compare_spaces(SolverOptions options, const std::function<void(ContactProblem*)>& change) {
    std::mt19937_64 rng(1);
    options.relative_tolerance = 1e-11;
    options.coupling_tolerance = 1e-10;
    int num_used = 0;
    for (int i = 0; i < num_trials(60); ++i) {
      ContactProblem problem = make_sparse_problem(i, &rng);
      change(&problem);
      options.allows_contact_space = true;
      const ContactSolution in_contact_space = solve(problem, GetParam(), options);
      options.allows_contact_space = false;
      const ContactSolution in_velocities = solve(problem, GetParam(), options);
      EXPECT_EQ(count_used(in_velocities), 0);
      num_used += count_used(in_contact_space);
      for (const auto& island : in_contact_space.islands)
        EXPECT_EQ(island.status, SolveStatus::kConverged);
      EXPECT_LE(compare(problem, in_contact_space, in_velocities), 1e-8) << "problem " << i;
    }
    EXPECT_GE(num_used, kSanitized ? 1 : 20);
  }
};

TEST_P(ContactSpace, HasTheSolutionOfVelocities) {
  compare_spaces({}, [](ContactProblem*) {});
}

TEST_P(ContactSpace, HasTheSolutionOfOtherLaws) {
  for (const auto normal : {contact::NormalLawKind::linear, contact::NormalLawKind::hertz}) {
    SolverOptions options;
    options.parameters.normal_law = normal;
    options.parameters.friction_law = contact::FrictionRegularizationKind::quadratic;
    compare_spaces(options, [](ContactProblem*) {});
  }
}

TEST_P(ContactSpace, HasTheSolutionOfSpringsAlongTheSurface) {
  SolverOptions options;
  options.parameters.friction_law = contact::FrictionRegularizationKind::elastic;
  compare_spaces(options, [](ContactProblem* problem) {
    for (const contact::Contact& c : problem->contacts)
      problem->anchors.push_back(
          {.stretch = {1e-4, -2e-4, 0, 0, 0}, .stiffness = 1e4 * c.friction[0], .damping = 1});
  });
}

TEST_P(ContactSpace, TakesFewerIterationsThanVelocitiesAndFinishes) {
  std::mt19937_64 rng(2);
  SolverOptions options;
  int in_contact_space = 0, in_velocities = 0, num_used = 0, num_left = 0;
  for (int i = 0; i < num_trials(60); ++i) {
    const ContactProblem problem = make_sparse_problem(i, &rng);
    options.allows_contact_space = true;
    const ContactSolution solution = solve(problem, GetParam(), options);
    num_used += count_used(solution);
    num_left += count_left(solution);
    for (const auto& island : solution.islands) in_contact_space += island.iterations;
    options.allows_contact_space = false;
    for (const auto& island : solve(problem, GetParam(), options).islands)
      in_velocities += island.iterations;
  }
  EXPECT_GE(num_used, kSanitized ? 1 : 20);
  EXPECT_LE(num_left, 1 + num_used / 20);  // friction may wedge bodies
  EXPECT_LT(in_contact_space, in_velocities);
}

TEST_P(ContactSpace, SharesTheFactorOfTheProblem) {
  std::mt19937_64 rng(6);
  for (int i = 0; i < num_trials(30); ++i) {
    ContactProblem problem = make_sparse_problem(i, &rng);
    contact::MomentumFactor factor;
    ASSERT_TRUE(factor.calc_derived(1, &problem));
    SolverOptions options;
    options.relative_tolerance = 1e-11;
    options.coupling_tolerance = 1e-10;
    const ContactSolution own = solve(problem, GetParam(), options);
    options.momentum_factor = &factor;
    const ContactSolution shared = solve(problem, GetParam(), options);
    EXPECT_EQ(count_used(shared), count_used(own));
    EXPECT_LE(compare(problem, shared, own), 1e-8) << "problem " << i;
  }
}

/// Makes a problem of one island that is solved in contact space.
ContactProblem make_suitable_problem(ContactModel model, std::mt19937_64* rng) {
  for (;;) {
    ContactProblem problem = make_completed_problem(
        {.num_bodies = 0, .num_trees = 1, .num_pairs = 1, .num_rows = 1}, rng);
    const ContactSolution solution = solve(problem, model, {});
    if (solution.islands.size() == 1 && count_used(solution) == 1) return problem;
  }
}

TEST_P(ContactSpace, IsNotUsedWhereItCannotServe) {
  std::mt19937_64 rng(3);
  const ContactProblem problem = make_suitable_problem(GetParam(), &rng);
  // Barriers have a domain.
  SolverOptions options;
  options.parameters.normal_law = contact::NormalLawKind::ipc_barrier;
  EXPECT_EQ(count_used(solve(problem, GetParam(), options)), 0);
  // Laws may be so stiff that the rounding of velocities matters.
  ContactProblem stiff = problem;
  for (contact::Contact& c : stiff.contacts) {
    const double dt = stiff.time_step;
    c.law.stiffness = 2e5 / (dt * dt * stiff.delassus[0]);
    c.fn0 = -c.law.stiffness * c.phi0;
  }
  EXPECT_EQ(count_used(solve(stiff, GetParam(), {})), 0);
  // More impulses than dofs.
  const ContactProblem many = make_completed_problem(
      {.num_bodies = 0, .num_trees = 1, .num_pairs = 30, .num_rows = 0}, &rng);
  EXPECT_EQ(count_used(solve(many, GetParam(), {})), 0);
  // A guess that is the solution needs no search.
  const ContactSolution solution = solve(problem, GetParam(), {});
  SolverOptions coarse;
  coarse.relative_tolerance *= 10;
  coarse.coupling_tolerance *= 10;
  ContactProblem again = problem;
  for (const double x : solution.normal_bounds) again.normal_guess.push_back(x);
  EXPECT_EQ(count_used(solve(again, GetParam(), coarse, solution.v)), 0);
}

// Half of the iterations are for velocities, which go on from the last point of contact space.
TEST_P(ContactSpace, CountsIslandsThatLeaveIt) {
  std::mt19937_64 rng(4);
  int num_left = 0;
  for (int i = 0; i < 20; ++i) {
    const ContactProblem problem = make_suitable_problem(GetParam(), &rng);
    EXPECT_EQ(count_left(solve(problem, GetParam(), {})), 0);
    SolverOptions options;
    options.max_iterations = 2;
    options.relative_tolerance = 1e-13;
    const ContactSolution solution = solve(problem, GetParam(), options);
    EXPECT_EQ(count_used(solution), 1);
    num_left += count_left(solution);
    if (GetParam() != ContactModel::coulomb) {  // has rounds of so many iterations each
      EXPECT_LE(solution.islands[0].iterations, 2);
    }
  }
  EXPECT_GE(num_left, 5);
}

// The laws are those at v0, wherever a guess makes the velocities begin.
TEST_P(ContactSpace, HasTheLawsAtTheInitialVelocitiesWithAGuess) {
  std::mt19937_64 rng(6);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 20; ++i) {
    const ContactProblem problem = make_suitable_problem(GetParam(), &rng);
    std::vector<double> guess = problem.v0;
    for (double& v : guess) v += normal(rng);
    const ContactSolution solution = solve(problem, GetParam(), {}, guess);
    EXPECT_EQ(count_used(solution), 1);
    EXPECT_EQ(count_left(solution), 0);
    EXPECT_LE(compare(problem, solution, solve(problem, GetParam(), {})), 1e-4);
  }
}

TEST_P(ContactSpace, HasTheSolutionOfRowsThatAreTheSame) {
  // W + G^-1 is then singular to rounding.
  std::mt19937_64 rng(5);
  ContactProblem problem = make_suitable_problem(GetParam(), &rng);
  contact::Row& row = problem.rows[0];
  row.kind = contact::RowKind::kEquality;
  row.regularization = 1e-18;
  row.target = 0.1;
  problem.rows.push_back(row);
  SolverOptions options;
  const ContactSolution in_contact_space = solve(problem, GetParam(), options);
  options.allows_contact_space = false;
  EXPECT_LE(compare(problem, in_contact_space, solve(problem, GetParam(), options)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Models, ContactSpace, testing::ValuesIn(support::models_with_anchors()),
                         support::model_name);

}  // namespace
}  // namespace stiction::formulations::contact_space_test
