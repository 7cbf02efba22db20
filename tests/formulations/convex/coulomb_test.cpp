// Compares the solutions of `coulomb` with independent computations.
#include "stiction/formulations/convex/coulomb.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/formulations/convex/contact_batch.hpp"
#include "support/dense_problem.hpp"
#include "support/law_under_test.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::coulomb_test {
namespace {

using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::SolveStatus;
using Eigen::VectorXd;
using support::make_law_choices;
using support::num_trials;
using support::SolvedProblem;
using support::to_vector;

/// Makes problems with few or many bodies, trees and constraints.
/// @param friction factor of all friction coefficients
std::vector<ContactProblem> make_problems(int num, double friction, bool all_dims,
                                          std::mt19937_64* rng) {
  std::vector<ContactProblem> problems;
  for (int i = 0; i < num; ++i) {
    problems.push_back(support::make_random_problem({.num_bodies = 1 + i % 6,
                                                     .num_trees = i % 3,
                                                     .num_pairs = 3 + i % 11,
                                                     .num_rows = i % 8,
                                                     .all_dims = all_dims},
                                                    rng));
    for (Contact& c : problems.back().contacts)
      for (double& mu : c.friction) mu *= friction;
  }
  return problems;
}

/// Computes the residual of the momentum balance under Coulomb's law with the normal impulses at
/// the end of the step, as in [theory:tamsi] but with the soft regularization.
VectorXd calc_coupled_residual(const ContactProblem& problem,
                               const contact::ModelParameters& parameters, const VectorXd& v) {
  const support::DenseProblem dense(problem);
  VectorXd r = dense.A * (v - dense.v_star);
  for (int i = 0; i < problem.num_contacts(); ++i) {
    const Contact& c = problem.contacts[i];
    const double dt = problem.time_step;
    const Eigen::Matrix<double, 6, 1> v_c = dense.J[i] * v + dense.b[i];
    const double n = dt * std::max(0.0, c.fn0 - dt * c.law.stiffness * v_c[2]) *
                     std::max(0.0, 1 - c.law.dissipation * v_c[2]);
    const double mu = c.dim == 1 ? 0 : c.friction[0];
    const double eps = std::max(parameters.stiction_tolerance,
                                parameters.friction_regularization * dense.delassus[i] * mu * n);
    Eigen::Vector3d gamma(0, 0, n);
    gamma.head<2>() = -mu * n * v_c.head<2>() / std::hypot(v_c[0], v_c[1], eps);
    r -= dense.J[i].topRows<3>().transpose() * gamma;
  }
  for (std::size_t i = 0; i < dense.rows.size(); ++i)
    r -= dense.rows[i].transpose() *
         certificate::calc_reference_row_impulse(problem.rows[i], dense.rows[i] * v);
  return r;
}

TEST(Coulomb, SolvesTheCoupledEquations) {
  std::mt19937_64 rng(1);
  SolverOptions options;
  options.relative_tolerance = 1e-12;
  options.coupling_tolerance = 1e-8;
  for (const double friction : {0.5, 2.0}) {
    for (const ContactProblem& problem : make_problems(num_trials(40), friction, false, &rng)) {
      const SolvedProblem solved(ContactModel::coulomb, problem, options);
      EXPECT_FALSE(solved.has_failed());
      const support::DenseProblem dense(solved.problem);
      const VectorXd v = to_vector(solved.solution.v);
      const double scale = dense.calc_norm(v) + dense.calc_norm(dense.v_star);
      // measured: below 1e-8
      EXPECT_LE(dense.calc_dual_norm(calc_coupled_residual(solved.problem, options.parameters, v)),
                1e-7 * scale);
    }
  }
}

TEST(Coulomb, LaggedDoesNotSolveTheCoupledEquations) {
  // This shows that the test above can fail.
  std::mt19937_64 rng(1);
  double worst = 0;
  for (const ContactProblem& problem : make_problems(40, 1, false, &rng)) {
    const SolvedProblem solved(ContactModel::lagged_regularized, problem);
    const support::DenseProblem dense(solved.problem);
    const VectorXd v = to_vector(solved.solution.v);
    const double r = dense.calc_dual_norm(calc_coupled_residual(solved.problem, {}, v));
    worst = std::max(worst, r / (dense.calc_norm(v) + dense.calc_norm(dense.v_star)));
  }
  EXPECT_GT(worst, 0.1);
}

TEST(Coulomb, ConvergesOnEveryIslandOnWhichLaggedConverges) {
  std::mt19937_64 rng(2);
  int num_islands = 0;
  for (const double friction : {0.0, 1.0, 4.0, 20.0}) {
    for (const ContactProblem& problem : make_problems(num_trials(60), friction, true, &rng)) {
      const SolvedProblem lagged(ContactModel::lagged_regularized, problem);
      SolvedProblem coulomb(ContactModel::coulomb, problem);
      ASSERT_EQ(lagged.solution.islands.size(), coulomb.solution.islands.size());
      for (std::size_t i = 0; i < lagged.solution.islands.size(); ++i) {
        if (lagged.solution.islands[i].status != SolveStatus::kConverged) continue;
        EXPECT_EQ(coulomb.solution.islands[i].status, SolveStatus::kConverged);
        EXPECT_LE(coulomb.solution.islands[i].coupling_error, 1e-3);
        ++num_islands;
      }
      const certificate::Certificate certificate = coulomb.certify();
      EXPECT_TRUE(certificate.ok);
      EXPECT_LE(certificate.coupling_error, 1e-3);
    }
  }
  EXPECT_GT(num_islands, num_trials(200));
}

TEST(Coulomb, FindsBoundsAndVelocitiesTogetherInLargeIslands) {
  // Contacts that close or stop sliding are far from their linear model, and an island of a hundred
  // bodies always has some. Without damping, the search gives up in most of these islands, and
  // convex problems are solved one after the other, in 50 to 120 iterations.
  constexpr int kMaxIterations = 45;  // measured: 22 to 36
  std::mt19937_64 rng(12);
  int num_large = 0, num_hard = 0;
  for (int trial = 0; trial < num_trials(10); ++trial) {
    ContactProblem problem = support::make_random_problem(
        {.num_bodies = 100, .num_trees = 0, .num_pairs = 300, .num_rows = 0, .near_rigid = false},
        &rng);
    // A limit of a user below that of the search shortens it, and does not switch it off.
    SolverOptions options;
    if (trial % 2 == 1) options.max_iterations = kMaxIterations + 1;
    const SolvedProblem solved(ContactModel::coulomb, problem, options);
    for (const contact::IslandStatistics& island : solved.solution.islands) {
      if (island.num_dofs < 300) continue;
      ++num_large;
      EXPECT_EQ(island.status, SolveStatus::kConverged);
      EXPECT_LE(island.coupling_error, 1e-3);
      num_hard += island.iterations > kMaxIterations;
    }
  }
  EXPECT_GE(num_large, num_trials(10));
  EXPECT_LE(num_hard, num_large / 10);
}

TEST(Coulomb, SolvesWithEveryLawWhatLaggedSolves) {
  std::mt19937_64 rng(117);
  int num_solved = 0, num_lagged = 0;
  for (const contact::ModelParameters& parameters : make_law_choices()) {
    SolverOptions options;
    options.parameters = parameters;
    const bool is_barrier = parameters.normal_law == contact::NormalLawKind::log_barrier ||
                            parameters.normal_law == contact::NormalLawKind::ipc_barrier;
    for (const ContactProblem& problem : make_problems(24, 1.5, true, &rng)) {
      SolvedProblem lagged(ContactModel::lagged_regularized, problem, options);
      if (!lagged.certify().ok) continue;
      SolvedProblem coulomb(ContactModel::coulomb, problem, options);
      const certificate::Certificate certificate = coulomb.certify();
      EXPECT_FALSE(coulomb.has_failed());
      EXPECT_TRUE(certificate.ok) << contact::name_of(parameters.friction_law);
      ++num_solved;
      num_lagged += certificate.coupling_error > 1e-3;
      if (!is_barrier) {
        EXPECT_LE(certificate.coupling_error, 1e-3);
      }
    }
  }
  EXPECT_GT(num_solved, 300);
  // Bodies squeezed between barriers have impulses of 1e6 N s at gaps of 1 nm. Double precision
  // cannot resolve friction with these impulses. The solution is then that of lagged_regularized,
  // with a coupling error above the tolerance.
  EXPECT_LE(num_lagged, 3);
}

TEST(Coulomb, WithOneRoundSolvesTheLaggedProblemAndReportsTheCouplingError) {
  std::mt19937_64 rng(3);
  SolverOptions options;
  options.max_rounds = 1;
  double worst = 0;
  for (const ContactProblem& problem : make_problems(20, 1, true, &rng)) {
    SolvedProblem solved(ContactModel::coulomb, problem, options);
    const SolvedProblem lagged(ContactModel::lagged_regularized, problem, options);
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok);
    worst = std::max(worst, certificate.coupling_error);
    double reported = 0;
    for (const auto& island : solved.solution.islands) {
      EXPECT_LE(island.rounds, 1);
      reported = std::max(reported, island.coupling_error);
    }
    // The solver reports the error before it solves the round to its tolerance.
    EXPECT_NEAR(certificate.coupling_error, reported, 0.2 * reported + 1e-3);
    // The first round is the problem of lagged_regularized, so the solutions differ by at most the
    // sum of their error bounds.
    const support::DenseProblem dense(solved.problem);
    const double distance =
        dense.calc_norm(to_vector(solved.solution.v) - to_vector(lagged.solution.v));
    SolvedProblem again = lagged;
    EXPECT_LE(distance, certificate.error_bound + again.certify().error_bound + 1e-12);
  }
  EXPECT_GT(worst, 1);
}

TEST(Coulomb, CertificateDetectsABoundThatDiffersFromTheNormalImpulse) {
  std::mt19937_64 rng(4);
  SolvedProblem solved(ContactModel::coulomb, make_problems(8, 1, false, &rng).back());
  const double mean = [&] {
    double sum = 0;
    for (const auto& gamma : solved.solution.impulses) sum += gamma[2];
    return sum / solved.problem.num_contacts();
  }();
  ASSERT_GT(mean, 0);
  EXPECT_LE(solved.certify().coupling_error, 1e-3);
  solved.solution.normal_bounds[0] += 0.1 * mean;
  EXPECT_GT(solved.certify().coupling_error, 0.01);
}

// At 1e13 N/m the last place of a velocity is an impulse, and bounds can agree no better.
TEST(Coulomb, RoundingOfAStiffLawIsNoCouplingError) {
  std::mt19937_64 rng(5);
  constexpr double kStiffness = 1e13;  // [N/m]
  ContactProblem problem = support::make_random_problem(
      {.num_bodies = 1, .num_trees = 0, .num_pairs = 1, .num_rows = 0}, &rng);
  const support::DenseProblem dense(problem);
  for (int i = 0; i < problem.num_contacts(); ++i) {
    Contact& c = problem.contacts[i];
    c.law = {.stiffness = kStiffness};
    // The first contact nearly separates, at the velocity at which its force ends; others do.
    c.bias[2] += 1 - (dense.J[i] * dense.v_star + dense.b[i])[2];
    c.fn0 = i == 0 ? problem.time_step * kStiffness * (1 + 1e-6) : 0;
  }
  SolvedProblem solved(ContactModel::coulomb, problem);
  const double impulse = solved.solution.impulses[0][2];
  ASSERT_GT(impulse, 0);
  ASSERT_LT(impulse, problem.time_step * problem.time_step * kStiffness * 1e-14);
  solved.solution.normal_bounds[0] = 0;
  EXPECT_LE(solved.certify().coupling_error, 1e-3);
  solved.solution.normal_bounds[0] = 1e4 * impulse;
  EXPECT_GT(solved.certify().coupling_error, 1e-3);
}

TEST(Coulomb, IslandsAreSolvedIndependentlyForAnyNumberOfThreads) {
  std::mt19937_64 rng(5);
  const auto [whole, parts] = support::make_problem_of_parts(6, &rng);
  const SolvedProblem together(ContactModel::coulomb, whole);
  base::ThreadPool threads(3);
  const SolvedProblem threaded(ContactModel::coulomb, whole, {}, &threads);
  const auto same = [](const std::vector<double>& a, const double* b) {
    return std::memcmp(a.data(), b, a.size() * sizeof(double)) == 0;
  };
  EXPECT_TRUE(same(together.solution.v, threaded.solution.v.data()));
  EXPECT_TRUE(same(together.solution.normal_bounds, threaded.solution.normal_bounds.data()));
  for (const auto& part : parts) {
    const SolvedProblem apart(ContactModel::coulomb, part.problem);
    EXPECT_TRUE(same(apart.solution.v, together.solution.v.data() + part.first_dof));
    EXPECT_TRUE(same(apart.solution.normal_bounds,
                     together.solution.normal_bounds.data() + part.first_contact));
  }
}

/// A body of 2 kg with one contact below its center, under gravity and a tangential push [N].
ContactProblem make_pushed_body(double mu, double penetration, double push, double v_n0) {
  constexpr double kDt = 2e-3, kMass = 2;
  ContactProblem problem;
  problem.clear(kDt);
  problem.add_block(3);
  for (int i = 0; i < 3; ++i) problem.diagonal(0)[4 * i] = kMass;
  problem.v0 = {0, 0, v_n0};
  problem.free_impulse = {kDt * push, 0, -kDt * kMass * 9.81};
  Contact c;
  c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  c.phi0 = -penetration;
  c.law.stiffness = 1e6;
  c.fn0 = c.law.stiffness * penetration;
  c.law.dissipation = 20;
  c.friction[0] = c.friction[1] = mu;
  problem.contacts.push_back(c);
  problem.pairs.push_back({.num_segments = 1, .num_contacts = 1});
  contact::Segment segment;
  segment.block = 0;
  segment.num_columns = 3;
  problem.segments.push_back(segment);
  for (int i = 0; i < 3; ++i) {
    problem.column_dof.push_back(i);
    for (int e = 0; e < 6; ++e) problem.columns.push_back(e == 3 + i ? 1 : 0);
  }
  return problem;
}

TEST(Coulomb, ImpactSlipsByMuTimesItsImpulse) {
  // At a penetration of 1 mm and 1 m/s, the normal impulse of the state at the start of the step is
  // 20 times that at its end.
  for (const double mu : {0.1, 0.5, 1.0}) {
    ContactProblem problem = make_pushed_body(mu, 1e-3, 0, -1);
    problem.v0[0] = 5;
    SolverOptions options;
    options.coupling_tolerance = 1e-9;
    options.relative_tolerance = 1e-12;
    const SolvedProblem solved(ContactModel::coulomb, problem, options);
    const auto& gamma = solved.solution.impulses[0];
    EXPECT_GT(gamma[2], 0.5);
    // At more than 1e3 slip tolerances friction differs by less than 5e-7 from its bound.
    EXPECT_NEAR(solved.solution.v[0], 5 - mu * gamma[2] / 2, 1e-6);
    EXPECT_LE(SolvedProblem(ContactModel::lagged, problem).solution.v[0], 3);  // of 42 N s
  }
}

TEST(Coulomb, BodySticksUnderAPushBelowTheFrictionBoundAndSlidesAboveIt) {
  // The body rests at x0 = m g / k, and the push is s mu m g. With s < 1 the body only creeps
  // within the slip tolerance.
  constexpr double kMu = 0.5, kWeight = 2 * 9.81, kDt = 2e-3;
  for (const double s : {0.2, 0.9, 1.1, 2.0}) {
    const SolvedProblem solved(ContactModel::coulomb,
                               make_pushed_body(kMu, kWeight / 1e6, s * kMu * kWeight, 0));
    const double eps = contact::ModelParameters().stiction_tolerance;
    const double free = (s - 1) * kMu * kWeight * kDt / 2;
    if (s < 1)
      EXPECT_LE(solved.solution.v[0], eps * s / std::sqrt(1 - s * s));
    else
      EXPECT_NEAR(solved.solution.v[0], free, 0.5 * eps);
  }
}

TEST(Coulomb, BoundDerivativeAgreesWithDifferencesOfTheImpulse) {
  constexpr double kStep = 1e-6;
  const contact::ModelParameters parameters;
  for (const double x :
       {1e-3, 0.4}) {  // eps_s is v_s for the first and sigma w mu x for the second
    for (const double slip : {1e-6, 1e-4, 1e-2, 1.0}) {
      LaggedTorsion::Start start;
      start.time_step = 2e-3;
      start.mu = math::broadcast(0.7);
      start.delassus = math::broadcast(3);
      for (Lanes& mu : start.friction) mu = math::broadcast(0.3);
      const Lanes zero{}, u = math::broadcast(slip);
      const Lanes3 v_c{u, 0.5 * u, zero};
      Coulomb::Parameters p = Coulomb::make_parameters(start, parameters);
      Coulomb::State state;
      const auto impulse = [&](double at) {
        Coulomb::set_normal_bound(math::broadcast(at), &p);
        return Coulomb::calc_impulse(p, v_c, &state);
      };
      const double h = kStep * x;
      const double numeric = (impulse(x + h).x[0] - impulse(x - h).x[0]) / (2 * h);
      (void)impulse(x);
      EXPECT_NEAR(Coulomb::calc_bound_derivative(p, state).x[0], numeric, 1e-8);

      Coulomb::Torsion::Parameters torsion = Coulomb::make_torsion_parameters(start, parameters);
      Coulomb::Torsion::State torsion_state;
      const Lanes v[6] = {u, -u, zero, 2 * u, 0.3 * u, u};
      Lanes high[6], low[6], at[6], derivative[6];
      Coulomb::Torsion::set_normal_bound(math::broadcast(x + h), &torsion);
      LaggedTorsion::calc_impulse(torsion, v, &torsion_state, high);
      Coulomb::Torsion::set_normal_bound(math::broadcast(x - h), &torsion);
      LaggedTorsion::calc_impulse(torsion, v, &torsion_state, low);
      Coulomb::Torsion::set_normal_bound(math::broadcast(x), &torsion);
      LaggedTorsion::calc_impulse(torsion, v, &torsion_state, at);
      Coulomb::Torsion::calc_bound_derivative(torsion, torsion_state, derivative);
      for (int i = 0; i < 6; ++i)
        EXPECT_NEAR(derivative[i][0], (high[i][0] - low[i][0]) / (2 * h), 1e-8) << i;
    }
  }
}

}  // namespace
}  // namespace stiction::formulations::coulomb_test
