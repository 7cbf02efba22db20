#include "stiction/formulations/contact_solver.hpp"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "stiction/contact/momentum_factor.hpp"
#include "support/dense_problem.hpp"
#include "support/dense_solver.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::convex_solver_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::SolveStatus;
using Eigen::VectorXd;
using support::calc_dense_cost;
using support::make_completed_problem;
using support::num_trials;
using support::solve_dense;
using support::to_vector;

/// The solver of one model with its options and islands.
class Solver {
 public:
  explicit Solver(ContactModel model) : solver_(make_contact_solver(model)) {}

  ContactSolution solve(const ContactProblem& problem, std::span<const double> guess = {},
                        base::ThreadPool* threads = nullptr) {
    islands_.find(problem);
    ContactSolution solution;
    solver_->solve(problem, islands_, options, guess, threads, &solution);
    return solution;
  }

  SolverOptions options;

 private:
  std::unique_ptr<ContactSolver> solver_;
  contact::Islands islands_;
};

/// Makes problems with bodies, trees, or both, and with few or many constraints.
std::vector<ContactProblem> make_problems(int num, std::mt19937_64* rng) {
  std::vector<ContactProblem> problems;
  for (int i = 0; i < num; ++i)
    problems.push_back(make_completed_problem(
        {.num_bodies = i % 6, .num_trees = 1 + i % 3, .num_pairs = 3 + i % 11, .num_rows = i % 8},
        rng));
  return problems;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

class AnySolver : public testing::TestWithParam<ContactModel> {};
/// Tests of convex models, which have a unique solution: the minimum of their cost.
class ConvexSolver : public AnySolver {};

TEST_P(ConvexSolver, AgreesWithADenseNewton) {
  std::mt19937_64 rng(1);
  Solver solver(GetParam());
  solver.options.relative_tolerance = 1e-13;
  for (const ContactProblem& problem : make_problems(num_trials(24), &rng)) {
    const support::DenseProblem dense(problem);
    const VectorXd sparse_v = to_vector(solver.solve(problem).v);
    const VectorXd dense_v = solve_dense(GetParam(), problem, solver.options.parameters);
    // By strong convexity, the distance of a point to the minimum is at most the norm of its
    // gradient.
    const auto error_bound = [&](const VectorXd& v) {
      return dense.calc_dual_norm(
          dense.calc_gradient(problem, GetParam(), solver.options.parameters, v));
    };
    const double scale = dense.calc_norm(dense_v);
    const double round_off = 1e-14 * scale;
    EXPECT_LE(dense.calc_norm(sparse_v - dense_v),
              error_bound(sparse_v) + error_bound(dense_v) + round_off);
    EXPECT_LE(error_bound(sparse_v), 1e-10 * scale);  // measured: below 1e-11
    EXPECT_LE(error_bound(dense_v), 1e-10 * scale);
  }
}

TEST_P(ConvexSolver, SolutionIsTheMinimumOfTheCost) {
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  Solver solver(GetParam());
  solver.options.relative_tolerance = 1e-12;
  const contact::ModelParameters& parameters = solver.options.parameters;
  for (const ContactProblem& problem : make_problems(num_trials(6), &rng)) {
    const support::DenseProblem dense(problem);
    const VectorXd v = to_vector(solver.solve(problem).v);
    const double cost = calc_dense_cost(GetParam(), problem, parameters, v);
    for (const double size : {1e-5, 1e-3, 0.1, 10.0}) {
      for (int trial = 0; trial < 10; ++trial) {
        VectorXd change = VectorXd::NullaryExpr(v.size(), [&] { return normal(rng); });
        change *= size / change.norm();
        // l(v + d) >= l(v) + 1/2 |d|_A^2 at the minimum, by strong convexity.
        const double energy = 0.5 * std::pow(dense.calc_norm(change), 2);
        const double other = calc_dense_cost(GetParam(), problem, parameters, v + change);
        EXPECT_GE(other, cost + energy - 1e-12 * (cost + other)) << "size " << size;
      }
    }
  }
}

TEST_P(ConvexSolver, ConvergesToTheGivenTolerance) {
  std::mt19937_64 rng(3);
  Solver solver(GetParam());
  for (const double tolerance : {1e-2, 1e-5, 1e-9}) {
    solver.options.relative_tolerance = tolerance;
    for (const ContactProblem& problem : make_problems(num_trials(12), &rng)) {
      for (const auto& island : solver.solve(problem).islands) {
        EXPECT_EQ(island.status, SolveStatus::kConverged);
        EXPECT_LE(island.residual, tolerance * island.scale + 1e-14);
        EXPECT_LE(island.iterations, 60);  // measured: 25 at most
      }
    }
  }
}

TEST_P(ConvexSolver, ExactGuessTakesZeroIterations) {
  std::mt19937_64 rng(4);
  Solver solver(GetParam());
  for (const ContactProblem& problem : make_problems(num_trials(12), &rng)) {
    solver.options.relative_tolerance = 1e-10;
    const ContactSolution exact = solver.solve(problem);
    solver.options.relative_tolerance = 1e-8;
    const ContactSolution again = solver.solve(problem, exact.v);
    for (const auto& island : again.islands) EXPECT_EQ(island.iterations, 0);
    EXPECT_TRUE(same_bits(exact.v, again.v));
  }
}

TEST_P(ConvexSolver, SolutionDoesNotDependOnTheGuess) {
  std::mt19937_64 rng(5);
  Solver solver(GetParam());
  solver.options.relative_tolerance = 1e-12;
  for (const ContactProblem& problem : make_problems(num_trials(12), &rng)) {
    const support::DenseProblem dense(problem);
    const VectorXd from_v0 = to_vector(solver.solve(problem).v);
    const VectorXd from_v_star = to_vector(solver.solve(problem, problem.v_star).v);
    const double bound = dense.calc_dual_norm(dense.calc_gradient(
                             problem, GetParam(), solver.options.parameters, from_v0)) +
                         dense.calc_dual_norm(dense.calc_gradient(
                             problem, GetParam(), solver.options.parameters, from_v_star));
    EXPECT_LE(dense.calc_norm(from_v0 - from_v_star), bound + 1e-14 * dense.calc_norm(from_v0));
  }
}

TEST_P(AnySolver, IslandsAreSolvedIndependently) {
  std::mt19937_64 rng(6);
  auto [whole, parts] = support::make_problem_of_parts(5, &rng);
  contact::MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &whole));
  Solver solver(GetParam());
  const ContactSolution together = solver.solve(whole);
  EXPECT_GE(together.islands.size(), parts.size());
  for (auto& part : parts) {
    ASSERT_TRUE(factor.calc_derived(1, &part.problem));
    const ContactSolution apart = solver.solve(part.problem);
    EXPECT_EQ(0, std::memcmp(apart.v.data(), together.v.data() + part.first_dof,
                             apart.v.size() * sizeof(double)));
    EXPECT_TRUE(std::equal(apart.impulses.begin(), apart.impulses.end(),
                           together.impulses.begin() + part.first_contact));
  }
}

TEST_P(AnySolver, ThreadsDoNotChangeABit) {
  std::mt19937_64 rng(7);
  ContactProblem problem;
  problem.clear(2e-3);
  for (int i = 0; i < 12; ++i)
    support::append_problem(
        support::make_random_problem({.num_bodies = 1 + i % 4, .num_pairs = 3}, &rng), &problem);
  contact::MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  Solver one(GetParam());
  const ContactSolution expected = one.solve(problem);
  EXPECT_GE(expected.islands.size(), 12u);
  for (const int num_threads : {2, 4}) {
    base::ThreadPool threads(num_threads);
    Solver several(GetParam());
    for (int repeat = 0; repeat < 10; ++repeat) {
      const ContactSolution solution = several.solve(problem, {}, &threads);
      EXPECT_TRUE(same_bits(solution.v, expected.v)) << num_threads << " threads";
      EXPECT_EQ(solution.impulses, expected.impulses);
      EXPECT_EQ(solution.contact_velocities, expected.contact_velocities);
      EXPECT_TRUE(same_bits(solution.row_impulses, expected.row_impulses));
      EXPECT_EQ(solution.slipping, expected.slipping);
      EXPECT_EQ(solution.beyond_tolerance, expected.beyond_tolerance);
    }
  }
}

TEST_P(AnySolver, ReusedSolverGivesTheBitsOfANewOne) {
  // The solver keeps elimination orders from call to call. Results must not depend on earlier
  // graphs.
  std::mt19937_64 rng(8);
  const std::vector<ContactProblem> problems = make_problems(10, &rng);
  Solver reused(GetParam());
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const ContactProblem& problem = problems[(i * 7 + repeat) % problems.size()];
      const ContactSolution a = reused.solve(problem), b = Solver(GetParam()).solve(problem);
      EXPECT_TRUE(same_bits(a.v, b.v));
      EXPECT_EQ(a.impulses, b.impulses);
    }
  }
}

TEST_P(AnySolver, DofsWithoutConstraintsMoveFreely) {
  std::mt19937_64 rng(9);
  const ContactProblem problem = make_completed_problem(
      {.num_bodies = 12, .num_trees = 4, .num_pairs = 3, .num_rows = 1}, &rng);
  contact::Islands islands;
  islands.find(problem);
  const ContactSolution solution = Solver(GetParam()).solve(problem);
  int num_free = 0;
  for (int b = 0; b < problem.num_blocks(); ++b) {
    if (islands.island_of_block(b) >= 0) continue;
    for (int i = problem.dof_start[b]; i < problem.dof_start[b + 1]; ++i, ++num_free)
      EXPECT_EQ(solution.v[i], problem.v_star[i]);
  }
  EXPECT_GT(num_free, 0);
}

TEST_P(AnySolver, ReportsWhyItStopped) {
  std::mt19937_64 rng(10);
  ContactProblem problem = make_completed_problem({.num_bodies = 6, .num_trees = 0}, &rng);
  Solver solver(GetParam());
  solver.options.relative_tolerance = 1e-13;
  solver.options.max_iterations = 1;
  bool was_limited = false;
  for (const auto& island : solver.solve(problem).islands)
    was_limited |= island.status == SolveStatus::kMaxIterations;
  EXPECT_TRUE(was_limited);

  solver.options = {};
  ContactProblem broken = problem;
  const int block = problem.segments[problem.pairs[0].first_segment].block;
  broken.v_star[problem.dof_start[block]] = std::nan("");
  bool was_not_finite = false;
  for (const auto& island : solver.solve(broken).islands)
    was_not_finite |= island.status == SolveStatus::kNotFinite;
  EXPECT_TRUE(was_not_finite);

  broken = problem;
  broken.diagonal(block)[0] = -1e9;
  bool was_indefinite = false;
  for (const auto& island : solver.solve(broken).islands)
    was_indefinite |= island.status != SolveStatus::kConverged;
  EXPECT_TRUE(was_indefinite);
}

// coulomb_test.cpp has coulomb, whose solution is the end of a sequence of convex problems.
INSTANTIATE_TEST_SUITE_P(Models, ConvexSolver,
                         testing::ValuesIn(support::without(ContactModel::coulomb,
                                                            support::convex_models())),
                         support::model_name);
INSTANTIATE_TEST_SUITE_P(Models, AnySolver,
                         testing::ValuesIn(support::without(ContactModel::coulomb,
                                                            support::compliant_models())),
                         support::model_name);

TEST(MakeContactSolver, ReturnsNullForMuJoCosModel) {
  EXPECT_EQ(make_contact_solver(ContactModel::mujoco), nullptr);
}

}  // namespace
}  // namespace stiction::formulations::convex_solver_test
