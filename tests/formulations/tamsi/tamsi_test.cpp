// Tests tamsi: the derivatives of its law, each branch of its limiter, its dense matrices, and
// divided steps, which are compared with a sequence of shorter steps.
#include "stiction/formulations/tamsi/tamsi.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/certificate/reference_laws.hpp"
#include "stiction/formulations/contact_solver.hpp"
#include "stiction/formulations/dense_island.hpp"
#include "stiction/formulations/tamsi/tamsi_island.hpp"
#include "support/dense_problem.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"
#include "support/trials.hpp"

namespace stiction::formulations::tamsi_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::ContactSolution;
using contact::SolveStatus;
using Eigen::VectorXd;
using math::Matrix3;
using math::Vector3;
using support::num_trials;
using support::SolvedProblem;
using support::to_vector;

constexpr double kSpeed = 1e-4;  // v_s

Tamsi::Parameters make_parameters(double dissipation) {
  return {.normal = {.dt = 2e-3, .k = 1e5, .d = dissipation, .fe0 = 40},
          .mu = 0.7,
          .stiction_tolerance = kSpeed};
}

TEST(TamsiLaw, GradientAgreesWithDifferencesOfTheImpulse) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  int num_checked = 0;
  for (const double dissipation : {0.0, 20.0}) {
    const Tamsi::Parameters p = make_parameters(dissipation);
    // Slips away from the kink at v_s, and normal velocities below separation at 0.05 m/s.
    for (const double slip : {0.0, 1e-3, 0.3, 0.9, 1.1, 30.0, 1e4}) {
      for (const double v_n : {-1.0, -1e-3, 0.0, 0.01, 0.04}) {
        Vector3 v{normal(rng), normal(rng), 0};
        v *= slip * kSpeed / v.norm();
        v.z() = v_n;
        Tamsi::State state;
        Tamsi::calc_impulse(p, v, &state);
        const Matrix3 G = Tamsi::calc_gradient(p, state);
        for (int i = 0; i < 3; ++i) {
          const double h = i < 2 ? 1e-5 * (v.head<2>().norm() + kSpeed) : 1e-6;
          const auto at = [&](double steps) {
            Vector3 moved = v;
            moved[i] += steps * h;
            Tamsi::State unused;
            return Tamsi::calc_impulse(p, moved, &unused);
          };
          const Vector3 difference = -(8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h);
          const double round_off = 1e-15 * at(0).norm() / h;
          EXPECT_LE((G.col(i) - difference).norm(), 1e-8 * G.norm() + 10 * round_off)
              << "slip " << slip << " v_n " << v_n << " component " << i;
          num_checked += G.col(i).norm() > 1e3 * round_off;
        }
      }
    }
  }
  EXPECT_GT(num_checked, 100) << "too few checks with a tight tolerance";
}

TEST(TamsiLaw, HasCoulombFrictionInSlipAndTheQuadraticLawInStiction) {
  const Tamsi::Parameters p = make_parameters(0);
  Tamsi::State state;
  const double n = 2e-3 * 40;
  const Vector3 sliding = Tamsi::calc_impulse(p, {3, -4, 0}, &state);
  EXPECT_NEAR((sliding - n * Vector3(-0.7 * 0.6, 0.7 * 0.8, 1)).norm(), 0, 1e-12 * n);
  EXPECT_TRUE(Tamsi::is_slipping(p, state));
  // r = x (2 - x) at x = 1/2; the regularization of the slip changes it by 1e-4.
  const Vector3 creeping = Tamsi::calc_impulse(p, {0.5 * kSpeed, 0, 0}, &state);
  EXPECT_NEAR(creeping.x(), -0.7 * 0.75 * n, 2e-4 * n);
  EXPECT_FALSE(Tamsi::is_slipping(p, state));
  EXPECT_EQ(Tamsi::calc_impulse(p, {0, 0, 0}, &state), Vector3(0, 0, n));
  EXPECT_EQ(Tamsi::calc_impulse(p, {1, 0, 0.21}, &state), Vector3(0, 0, 0));  // released at 0.2
  EXPECT_EQ(Tamsi::calc_gradient(p, state).norm(), 0);
}

TEST(TamsiLaw, EqualsTheLawOfTheCertificate) {
  std::mt19937_64 rng(2);
  std::normal_distribution<double> normal;
  contact::Contact c;
  c.law.stiffness = 1e5;
  c.fn0 = 40;
  c.friction = {0.6, 0.8, 0, 0, 0};
  for (const double dissipation : {0.0, 20.0}) {
    c.law.dissipation = dissipation;
    for (const int dim : {1, 3, 6}) {
      c.dim = dim;
      for (const double slip : {0.0, 1e-3, 0.3, 1.0, 30.0, 1e9}) {
        for (const double v_n : {-1.0, 0.0, 0.04, 0.06, 0.3}) {
          const certificate::ContactVector v_c{
              slip * kSpeed * normal(rng), slip * kSpeed * normal(rng), v_n, normal(rng), 0, 0};
          const certificate::ReferenceImpulse reference = certificate::calc_reference_impulse(
              ContactModel::tamsi, {}, c, {.time_step = 2e-3, .w = 1}, v_c);
          Tamsi::State state;
          const Vector3 gamma = Tamsi::calc_impulse(Tamsi::make_parameters(c, 2e-3, {}),
                                                    {v_c[0], v_c[1], v_c[2]}, &state);
          for (int e = 0; e < 3; ++e)
            EXPECT_NEAR(reference.gamma[e], gamma[e], 1e-14 * (1 + gamma.norm()));
          EXPECT_EQ(reference.gamma[3], 0);
          EXPECT_EQ(reference.normal_bound, reference.gamma[2]);
        }
      }
    }
  }
}

/// Returns the slip at which a limited step from u to `end` ends. All are in units of v_s.
Slip limit(const Slip& u, const Slip& end, double* alpha = nullptr) {
  const Slip du{(end.x - u.x) * kSpeed, (end.y - u.y) * kSpeed};
  const double a = calc_slip_limit({u.x * kSpeed, u.y * kSpeed}, du, kSpeed);
  if (alpha) *alpha = a;
  return {u.x + a * (end.x - u.x), u.y + a * (end.y - u.y)};
}

void expect_slip(const Slip& slip, double x, double y) {
  EXPECT_NEAR(slip.x, x, 1e-12 * (1 + std::abs(x)));
  EXPECT_NEAR(slip.y, y, 1e-12 * (1 + std::abs(y)));
}

TEST(TamsiLimiter, TakesShortStepsWhole) {
  expect_slip(limit({1e3, 0}, {1e3 + 0.009, 0}), 1e3 + 0.009, 0);
  expect_slip(limit({0, 0}, {0.009, 0}), 0.009, 0);
}

TEST(TamsiLimiter, StepFromRestToSlidingMovesByHalfTheTolerance) {
  expect_slip(limit({0, 0}, {30, 40}), 0.3, 0.4);
  expect_slip(limit({0.009, 0}, {1.1, 0}), 0.509, 0);
}

TEST(TamsiLimiter, StepFromSlidingToRestStopsHalfTheToleranceBeforeIt) {
  expect_slip(limit({30, 40}, {0, 0}), 0.3, 0.4);
  expect_slip(limit({-1.2, 0}, {0.009, 0}), -0.491, 0);
}

TEST(TamsiLimiter, TakesStepsIntoAndOutOfStictionWhole) {
  expect_slip(limit({5, 0}, {-0.5, 0.2}), -0.5, 0.2);
  expect_slip(limit({0.5, 0}, {-7, 3}), -7, 3);
  expect_slip(limit({0.5, 0}, {-0.5, 0.1}), -0.5, 0.1);
}

TEST(TamsiLimiter, StepThroughTheOriginStopsHalfTheToleranceBeforeIt) {
  expect_slip(limit({6, 8}, {-3, -4}), 0.3, 0.4);
  expect_slip(limit({5, 0.009}, {-5, 0.009}), 0.5, 0.009);
}

TEST(TamsiLimiter, StepPastTheOriginEndsAtTheClosestPoint) {
  expect_slip(limit({5, 0.7}, {-2, 0.7}), 0, 0.7);
  expect_slip(limit({4, 5}, {-4, -3}), -0.5, 0.5);
}

TEST(TamsiLimiter, TurnsSlidingByAtMostSixtyDegrees) {
  // A right angle from (10, 0): the line to (0, 10) reaches 60 degrees where y = sqrt(3) x.
  const double x = 10 / (1 + std::sqrt(3.0));
  expect_slip(limit({10, 0}, {0, 10}), x, std::sqrt(3.0) * x);
  const double x2 = 10 / (1 + 2 * std::sqrt(3.0));  // on the line (10 - 40 a, 20 a)
  expect_slip(limit({10, 0}, {-30, 20}), x2, std::sqrt(3.0) * x2);
  // Steps that turn less, or change the speed along the same line, are taken whole.
  for (const Slip& end : {Slip{10, 17}, Slip{10, -17}, Slip{20, 0}, Slip{5, 0}, Slip{1e9, 1e9}})
    expect_slip(limit({10, 0}, end), end.x, end.y);
}

TEST(TamsiLimiter, NeverStepsOverStictionOrTurnsFar) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> log_size(-3, 3);
  int num_limited = 0;
  for (int trial = 0; trial < num_trials(20000); ++trial) {
    const double from = std::pow(10, log_size(rng)), to = std::pow(10, log_size(rng));
    const Slip u{from * normal(rng), from * normal(rng)}, end{to * normal(rng), to * normal(rng)};
    double alpha;
    const Slip w = limit(u, end, &alpha);
    ASSERT_GT(alpha, 0);
    ASSERT_LE(alpha, 1);
    num_limited += alpha < 1;
    // A step that stays in sliding turns by at most 60 degrees and does not cross stiction.
    const double u_norm = std::hypot(u.x, u.y), w_norm = std::hypot(w.x, w.y);
    if (u_norm < 1 || w_norm < 1) continue;
    EXPECT_GE(u.x * w.x + u.y * w.y, (0.5 - 1e-9) * u_norm * w_norm);
    for (double s = 0; s <= 1; s += 0.02)
      EXPECT_GE(std::hypot(u.x + s * (w.x - u.x), u.y + s * (w.y - u.y)), 0.8);
  }
  EXPECT_GT(num_limited, num_trials(3000));
}

TEST(DenseIsland, AgreesWithDenseMatricesOfTheProblem) {
  std::mt19937_64 rng(4);
  std::normal_distribution<double> normal;
  ContactProblem problem = support::make_random_problem({.num_bodies = 5, .num_trees = 2}, &rng);
  contact::MomentumFactor factor;
  ASSERT_TRUE(factor.calc_derived(1, &problem));
  contact::Islands islands;
  islands.find(problem);
  const support::DenseProblem dense(problem);
  int num_contacts = 0, num_rows = 0;
  for (int island = 0; island < islands.size(); ++island) {
    std::vector<int> first_dof(problem.num_blocks());
    int n = 0;
    for (const int b : islands.blocks(island))
      first_dof[b] = std::exchange(n, n + problem.block_size(b));
    DenseIsland matrices;
    matrices.assemble(problem, islands, island, first_dof);
    ASSERT_EQ(matrices.num_dofs(), n);
    const VectorXd x = VectorXd::NullaryExpr(n, [&] { return normal(rng); });
    VectorXd all = VectorXd::Zero(problem.num_dofs());
    matrices.scatter(x, std::span(all.data(), all.size()));

    VectorXd product;
    const VectorXd Ax = dense.A * all;
    matrices.gather(std::span(Ax.data(), Ax.size()), &product);
    EXPECT_LE((matrices.A() * x - product).norm(), 1e-14 * product.norm());
    const auto check = [&](const auto& J, const Eigen::MatrixXd& dense_J) {
      using Jacobian = std::decay_t<decltype(J)>;
      const VectorXd dense_v = dense_J * all;
      typename Jacobian::Vector v = J.multiply(x);
      for (int e = 0; e < v.size(); ++e)
        EXPECT_NEAR(v[e], dense_v[e], 1e-13 * (1 + dense_v.norm()));
      VectorXd force = VectorXd::Zero(n), dense_force;
      J.add_force(v, &force);
      const VectorXd all_force = dense_J.transpose() * dense_v;
      matrices.gather(std::span(all_force.data(), all_force.size()), &dense_force);
      EXPECT_LE((force - dense_force).norm(), 1e-13 * (1 + dense_force.norm()));
      // G is not symmetric.
      typename Jacobian::Matrix G;
      for (Eigen::Index i = 0; i < G.size(); ++i) G(i) = normal(rng);
      Eigen::MatrixXd H = Eigen::MatrixXd::Zero(n, n);
      J.add_gradient(G, &H);
      const VectorXd dense_Gv = Eigen::MatrixXd(G) * dense_v;
      const VectorXd all_Hx = dense_J.transpose() * dense_Gv;
      VectorXd Hx;
      matrices.gather(std::span(all_Hx.data(), all_Hx.size()), &Hx);
      EXPECT_LE((H * x - Hx).norm(), 1e-12 * (1 + Hx.norm()));
    };
    for (int i = 0; i < matrices.num_contacts(); ++i, ++num_contacts)
      check(matrices.contact_jacobian(i),
            Eigen::MatrixXd(dense.J[matrices.contacts()[i]].topRows<3>()));
    for (int i = 0; i < matrices.num_rows(); ++i, ++num_rows)
      check(matrices.row_jacobian(i), Eigen::MatrixXd(dense.rows[matrices.rows()[i]]));
  }
  EXPECT_EQ(num_contacts, problem.num_contacts());
  EXPECT_EQ(num_rows, problem.num_rows());
}

SolvedProblem solve(const ContactProblem& problem, double tolerance) {
  return {ContactModel::tamsi, problem, {.relative_tolerance = tolerance}};
}
int max_substeps(const ContactSolution& solution) {
  int most = 1;
  for (const auto& island : solution.islands) most = std::max(most, island.num_substeps);
  return most;
}
bool has_converged(const ContactSolution& solution) {
  return std::all_of(solution.islands.begin(), solution.islands.end(),
                     [](const auto& island) { return island.status == SolveStatus::kConverged; });
}

ContactProblem make_problem(std::mt19937_64* rng, double friction_factor) {
  ContactProblem problem =
      support::make_random_problem({.num_bodies = 4, .num_trees = 1, .num_rows = 6}, rng);
  for (contact::Contact& c : problem.contacts)
    for (double& mu : c.friction) mu *= friction_factor;
  return problem;
}

/// Makes problems whose step is divided and then solved.
std::vector<SolvedProblem> make_divided(int num, double tolerance = 1e-5) {
  std::mt19937_64 rng(7);
  std::vector<SolvedProblem> out;
  for (int trial = 0; trial < 400 && static_cast<int>(out.size()) < num; ++trial) {
    SolvedProblem solved = solve(make_problem(&rng, 2), tolerance);
    if (max_substeps(solved.solution) > 1 && has_converged(solved.solution))
      out.push_back(std::move(solved));
  }
  EXPECT_EQ(static_cast<int>(out.size()), num);
  return out;
}

/// Turns a problem into that of the first sub-step of n.
void make_part(int n, ContactProblem* problem) {
  problem->time_step /= n;
  for (int i = 0; i < problem->num_dofs(); ++i)
    problem->v_star[i] = problem->v0[i] + (problem->v_star[i] - problem->v0[i]) / n;
  for (contact::Row& row : problem->rows) {
    row.regularization *= n;
    row.bound /= n;
  }
}

TEST(TamsiSubsteps, EqualASequenceOfShorterSteps) {
  for (SolvedProblem& solved : make_divided(num_trials(6), 1e-12)) {
    const ContactProblem& problem = solved.problem;
    for (int island = 0; island < solved.islands.size(); ++island) {
      const int n = solved.solution.islands[island].num_substeps;
      if (n == 1) continue;
      ContactProblem part = problem;
      make_part(n, &part);
      std::vector<double> change(problem.num_dofs());
      for (int i = 0; i < problem.num_dofs(); ++i) change[i] = part.v_star[i] - part.v0[i];
      std::vector<std::array<double, 6>> impulses(problem.num_contacts());
      std::vector<double> row_impulses(problem.num_rows());
      ContactSolution one;
      for (int s = 0; s < n; ++s) {
        make_contact_solver(ContactModel::tamsi)
            ->solve(part, solved.islands, solved.options, {}, nullptr, &one);
        ASSERT_EQ(one.islands[island].num_substeps, 1);
        for (int i = 0; i < problem.num_contacts(); ++i) {
          for (int e = 0; e < 3; ++e) impulses[i][e] += one.impulses[i][e];
          part.contacts[i].fn0 -=
              part.time_step * part.contacts[i].law.stiffness * one.contact_velocities[i][2];
        }
        for (int i = 0; i < problem.num_rows(); ++i) row_impulses[i] += one.row_impulses[i];
        part.v0 = one.v;
        for (int i = 0; i < problem.num_dofs(); ++i) part.v_star[i] = part.v0[i] + change[i];
      }
      for (const int b : solved.islands.blocks(island))
        for (int i = problem.dof_start[b]; i < problem.dof_start[b + 1]; ++i)
          EXPECT_NEAR(solved.solution.v[i], one.v[i], 1e-10);
      for (const int p : solved.islands.pairs(island)) {
        const contact::BodyPair& pair = problem.pairs[p];
        for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i)
          for (int e = 0; e < 3; ++e)
            EXPECT_NEAR(solved.solution.impulses[i][e], impulses[i][e], 1e-8);
      }
      for (const int r : solved.islands.rows(island))
        EXPECT_NEAR(solved.solution.row_impulses[r], row_impulses[r], 1e-8);
    }
  }
}

TEST(TamsiSubsteps, SumOfImpulsesBalancesTheMomentumOfTheStep) {
  for (const SolvedProblem& solved : make_divided(num_trials(6), 1e-12)) {
    const support::DenseProblem dense(solved.problem);
    VectorXd r = dense.A * (to_vector(solved.solution.v) - dense.v_star);
    const double scale = r.norm();
    for (int i = 0; i < solved.problem.num_contacts(); ++i)
      r -= dense.J[i].transpose() *
           Eigen::Map<const Eigen::Matrix<double, 6, 1>>(solved.solution.impulses[i].data());
    for (int i = 0; i < solved.problem.num_rows(); ++i)
      r -= dense.rows[i].transpose() * solved.solution.row_impulses[i];
    EXPECT_LE(r.norm(), 1e-9 * scale);
  }
}

TEST(TamsiSubsteps, CertificateChecksEachSubstep) {
  for (SolvedProblem& solved : make_divided(6)) {
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << certificate.relative_residual;
    EXPECT_LE(certificate.relative_residual, 1.25e-5);
    EXPECT_EQ(certificate.error_bound, contact::kInfinity);
    EXPECT_EQ(certificate.velocity_bound, contact::kInfinity);
    for (int island = 0; island < solved.islands.size(); ++island) {
      const int n = solved.solution.islands[island].num_substeps;
      const int dof = solved.problem.dof_start[solved.islands.blocks(island)[0]];
      for (int s = 0; s < n; ++s) {
        ContactSolution wrong = solved.solution;
        (s + 1 == n ? wrong.v[dof] : wrong.substep_v[s * wrong.v.size() + dof]) += 0.1;
        EXPECT_FALSE(solved.certify(wrong).ok) << "sub-step " << s;
      }
      if (n == 1) continue;
      // A divided step must not pass as a whole one.
      ContactSolution wrong = solved.solution;
      wrong.islands[island].num_substeps = 1;
      EXPECT_FALSE(solved.certify(wrong).ok);
    }
    for (int i = 0; i < solved.problem.num_contacts(); ++i) {
      ContactSolution wrong = solved.solution;
      wrong.impulses[i][i % 3] += 0.01;
      EXPECT_FALSE(solved.certify(wrong).ok) << "contact " << i;
    }
  }
}

TEST(Tamsi, ConvergesToTheGivenToleranceOrReportsThatItDidNot) {
  std::mt19937_64 rng(9);
  int num_failed = 0, num_converged = 0;
  for (int trial = 0; trial < num_trials(200); ++trial) {
    // Coefficients up to about 20 make bodies jam, so that some steps have no solution.
    SolvedProblem solved = solve(make_problem(&rng, trial % 2 ? 20 : 1), trial % 3 ? 1e-5 : 1e-8);
    for (const auto& island : solved.solution.islands) {
      if (island.status == SolveStatus::kConverged) {
        ++num_converged;
        EXPECT_LE(island.residual, solved.options.relative_tolerance * island.scale + 1e-14);
        continue;
      }
      // The result is then the last iterate of the whole step, with the impulses at its velocities.
      ++num_failed;
      EXPECT_EQ(island.status, SolveStatus::kMaxIterations);
      EXPECT_EQ(island.num_substeps, 1);
    }
    const certificate::Certificate certificate = solved.certify();
    // A step with a valid certificate may not have converged: its velocities may still change
    // although the residual is small.
    EXPECT_TRUE(certificate.ok || !has_converged(solved.solution));
    EXPECT_LE(certificate.impulse_error, 1e-6);  // measured: 4e-9 N s, for stiff laws
    EXPECT_TRUE(to_vector(solved.solution.v).allFinite());
  }
  EXPECT_GT(num_failed, num_trials(20));  // measured: 51 and 210
  EXPECT_GT(num_converged, num_trials(100));
}

}  // namespace
}  // namespace stiction::formulations::tamsi_test
