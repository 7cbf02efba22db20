// Tests rigid models on problems whose answer is known or can be found by brute force.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

#include "stiction/formulations/contact_solver.hpp"
#include "stiction/formulations/rigid/rigid_law.hpp"
#include "support/dense_problem.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"

namespace stiction::formulations::rigid_test {
namespace {

using contact::BodyPair;
using contact::Contact;
using contact::ContactModel;
using contact::ContactProblem;
using contact::Segment;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using support::SolvedProblem;

constexpr double kTimeStep = 1e-3, kGravity = 9.81;

/// A cube of 10 cm and 1 kg, with its four lower corners at height phi0 over the ground.
struct Box {
  ContactProblem problem;

  explicit Box(double phi0 = 0, double mu = 0.5) {
    problem.clear(kTimeStep);
    problem.add_rigid_body();
    double* A = problem.diagonal(0);
    for (int i = 0; i < 6; ++i) A[7 * i] = i < 3 ? 0.01 / 6 : 1;
    push(5, -kGravity);
    BodyPair pair;
    pair.num_segments = 1;
    problem.pairs.push_back(pair);
    Segment segment;
    segment.block = 0;
    segment.is_rigid_body = true;
    segment.offset = {0, 0, -0.05};
    problem.segments.push_back(segment);
    for (const double x : {-0.05, 0.05})
      for (const double y : {-0.05, 0.05}) add_contact(x, y, phi0, mu);
  }
  void push(int dof, double force) { problem.free_impulse[dof] += force * kTimeStep; }
  void add_contact(double x, double y, double phi0, double mu) {
    Contact c;
    c.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    c.offset = {x, y, 0};
    c.phi0 = phi0;
    c.friction = {mu, mu, 0, 0, 0};
    c.id = problem.contacts.size() + 1;
    problem.contacts.push_back(c);
    ++problem.pairs[0].num_contacts;
  }
};

double sum_normal(const SolvedProblem& solved) {
  double sum = 0;
  for (const auto& impulse : solved.solution.impulses) sum += impulse[2];
  return sum;
}

class Rigid : public testing::TestWithParam<ContactModel> {};

TEST_P(Rigid, BoxRestsOnItsWeight) {
  SolvedProblem solved(GetParam(), Box().problem);
  EXPECT_TRUE(solved.certify().ok);
  EXPECT_FALSE(solved.has_failed());
  for (const double v : solved.solution.v) EXPECT_NEAR(v, 0, 1e-14);
  EXPECT_NEAR(sum_normal(solved), kGravity * kTimeStep, 1e-14);
}

TEST_P(Rigid, FallingBoxStopsAtTheSurface) {
  if (contact::traits(GetParam()).gaps == contact::GapPolicy::kTouching)
    GTEST_SKIP() << "knows no gaps";
  Box box(1e-3);
  box.problem.v0[5] = -2;
  SolvedProblem solved(GetParam(), box.problem);
  EXPECT_TRUE(solved.certify().ok);
  // The law of least energy has a play of 1e-6 m/s, so that phase 2 has an interior.
  const bool has_play =
      contact::traits(GetParam()).tangents == contact::TangentPolicy::kLeastEnergy;
  const double play = has_play ? 2e-6 : 1e-11;
  EXPECT_NEAR(solved.solution.v[5], -1e-3 / kTimeStep, play);
}

TEST_P(Rigid, OverlapIsCorrectedWithinItsCap) {
  for (const double depth : {1e-5, 1e-2}) {
    SolvedProblem solved(GetParam(), Box(-depth).problem);
    EXPECT_TRUE(solved.certify().ok) << solved.certify().rigid.complementarity;
    EXPECT_NEAR(solved.solution.v[5], std::min(0.1 * depth / kTimeStep, 0.1), 1e-12);
  }
}

TEST_P(Rigid, ASeparatingBoxHasNoImpulse) {
  Box box;
  box.problem.v0[5] = 1;
  SolvedProblem solved(GetParam(), box.problem);
  EXPECT_TRUE(solved.certify().ok);
  EXPECT_NEAR(solved.solution.v[5], 1 - kGravity * kTimeStep, 1e-14);
  for (const auto& impulse : solved.solution.impulses) EXPECT_EQ(impulse[2], 0);
}

TEST_P(Rigid, PoissonsRestitutionGivesBackItsShare) {
  for (const double e : {0.0, 0.5, 1.0}) {
    Box box;
    box.problem.v0[5] = -3;
    for (Contact& c : box.problem.contacts) c.law.restitution = e;
    SolvedProblem solved(GetParam(), box.problem);
    EXPECT_TRUE(solved.certify().ok);
    // Semi-implicit steps in free fall conserve v^2 / 2 - g dt v / 2 where the surfaces touch.
    const double v = solved.solution.v[5], a = kGravity * kTimeStep;
    EXPECT_NEAR(v * (v + a), e * e * 3 * (3 + a), 1e-11);
  }
}

/// Makes a box that is squeezed between ground and ceiling, which overlap it by 1 mm each. No
/// velocity corrects both overlaps.
ContactProblem make_squeezed_box() {
  Box box(-1e-3);
  for (const double x : {-0.05, 0.05}) {
    box.add_contact(x, 0, -1e-3, 0.5);
    Contact& c = box.problem.contacts.back();
    c.R_WC = {1, 0, 0, 0, -1, 0, 0, 0, -1};
    c.offset = {x, 0, 0.1};
  }
  return box.problem;
}

TEST_P(Rigid, SqueezedBoxStaysAtRestAndReportsTheConflict) {
  SolvedProblem solved(GetParam(), make_squeezed_box());
  EXPECT_FALSE(solved.has_failed());
  EXPECT_TRUE(solved.certify().ok);
  EXPECT_TRUE(solved.solution.islands[0].has_conflict);
  if (contact::traits(GetParam()).has_error_bound) {
    EXPECT_GE(solved.solution.islands[0].conflict_contact, 0);
  }
  EXPECT_NEAR(solved.solution.v[5], 0, 1e-12);
}

TEST_P(Rigid, TakesTenThousandContactsOfOneBody) {
  const contact::ContactModelTraits& traits = contact::traits(GetParam());
  if (traits.options.friction_directions) GTEST_SKIP() << "a dense LCP of 60,000 unknowns";
  Box box;
  std::mt19937_64 rng(1);
  std::uniform_real_distribution<double> anywhere(-0.05, 0.05);
  for (int i = 4; i < 10000; ++i) {
    const double x = anywhere(rng), y = anywhere(rng);
    box.add_contact(x, y, 0, 0.5);
  }
  box.push(3, 20);
  SolvedProblem solved(GetParam(), box.problem);
  EXPECT_TRUE(solved.certify().ok);
  EXPECT_LE(solved.solution.islands[0].iterations, traits.options.lcp_solver ? 20 : 60);
  // Redundant contacts under friction cones share the load.
  if (!traits.options.lcp_solver) return;
  EXPECT_LE(solved.certify().rigid.num_active, 6);
}

TEST_P(Rigid, WarmStartAtRestTakesNoPivots) {
  if (!contact::traits(GetParam()).options.lcp_solver)
    GTEST_SKIP() << "laws of friction take no guess";
  SolvedProblem solved(GetParam(), Box().problem);
  const auto solver = make_contact_solver(GetParam());
  contact::ContactSolution solution;
  for (const int at_most : {8, 0}) {
    solver->solve(solved.problem, solved.islands, solved.options, {}, nullptr, &solution);
    EXPECT_LE(solution.islands[0].iterations, at_most);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Rigid, testing::ValuesIn(support::rigid_models()),
                         support::model_name);

TEST(NoSlip, SticksUnderAnyPush) {
  Box box;
  box.push(3, 1e4);
  box.push(2, 1e3);
  box.problem.v0 = {0, 0, 3, 5, -4, 0};
  SolvedProblem solved(ContactModel::no_slip, box.problem);
  const certificate::Certificate certificate = solved.certify();
  EXPECT_TRUE(certificate.ok);
  EXPECT_LE(certificate.rigid.constraint_error, 1e-12);
  EXPECT_LT(certificate.energy_gain, 0);
  EXPECT_EQ(certificate.rigid.max_active, 3);  // three of six dofs are fixed
  EXPECT_LE(certificate.rigid.num_active, 3);
  EXPECT_LE(certificate.error_bound, 1e-6);
}

/// A box whose lower edges touch two surfaces a few micrometers apart: one edge overlaps its
/// surface, the other one closes its gap as the box tips.
/// @param height between the contact points of both edges, relative to overlap and gap
ContactProblem make_two_planes(double height, std::mt19937_64* rng) {
  std::uniform_real_distribution<double> share(0, 1);
  Box box;
  ContactProblem& problem = box.problem;
  problem.segments.push_back(problem.segments[0]);
  problem.pairs[0].num_contacts = 2;
  problem.pairs.push_back(problem.pairs[0]);
  problem.pairs[1].first_segment = 1;
  problem.pairs[1].first_contact = 2;
  const double depth = 1e-5 * share(*rng), gap = 1e-5 * share(*rng);
  for (int i = 0; i < problem.num_contacts(); ++i) {
    Contact& c = problem.contacts[i];
    c.phi0 = i < 2 ? -depth : gap;
    c.offset[0] *= 0.5 + share(*rng);
    c.offset[2] = i < 2 ? 0 : 0.5 * (gap + depth) * height * (0.5 + share(*rng));
  }
  for (double& v : problem.v0) v = 0.002 * (share(*rng) - 0.5);
  return problem;
}

// Solver and certificate may select rows in another order, which matters if these are independent
// by a short lever only.
TEST(NoSlip, ContactsInTwoPlanesAreNeverTooManyForTheCertificate) {
  std::mt19937_64 rng(3);
  int num_with_three = 0;
  for (int trial = 0; trial < 400; ++trial) {
    SolvedProblem solved(ContactModel::no_slip, make_two_planes(1, &rng));
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << trial << ": " << certificate.failed.quantity << " "
                                << certificate.failed.value << " " << certificate.failed.limit;
    num_with_three += certificate.rigid.num_active == 3;
  }
  EXPECT_GT(num_with_three, 20);
}

// Levers of a hundred gaps and more fix the rotations, so that one contact is enough.
TEST(NoSlip, ContactsInDistantPlanesLeaveOneDof) {
  std::mt19937_64 rng(4);
  int num_pressing = 0;
  for (int trial = 0; trial < 100; ++trial) {
    SolvedProblem solved(ContactModel::no_slip, make_two_planes(1000, &rng));
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << trial;
    const auto& impulses = solved.solution.impulses;
    const auto sticks = [&](int i) { return impulses[i] != std::array<double, 6>{}; };
    if (!(sticks(0) && sticks(1) && (sticks(2) || sticks(3)))) continue;
    ++num_pressing;
    EXPECT_EQ(certificate.rigid.max_active, 1) << trial;
  }
  EXPECT_GT(num_pressing, 10);
}

TEST(NoSlip, LandingContactSticksInTheSameStep) {
  Box box(5e-4);
  box.problem.v0 = {0, 0, 0, 1, 0, -1};
  SolvedProblem solved(ContactModel::no_slip, box.problem);
  EXPECT_TRUE(solved.certify().ok);
  EXPECT_NEAR(solved.solution.contact_velocities[0][0], 0, 1e-12);
}

TEST(NoSlip, SeparatingContactSticksUnlessDropped) {
  Box box;
  box.problem.v0 = {0, 0, 0, 1, 0, 1};
  SolverOptions as_published;
  as_published.parameters.drop_separating = false;
  const SolvedProblem as_published_step(ContactModel::no_slip, box.problem, as_published);
  EXPECT_GT(as_published_step.solution.contact_velocities[0][2], 0.1);
  EXPECT_NEAR(as_published_step.solution.contact_velocities[0][0], 0, 1e-12);
  SolvedProblem dropped(ContactModel::no_slip, box.problem);
  EXPECT_TRUE(dropped.certify().ok);
  EXPECT_NEAR(dropped.solution.v[3], 1, 1e-12);
}

TEST(Viscous, BoxSlowsDownByTheImplicitFactor) {
  Box box;
  box.problem.v0[3] = 1;
  for (Contact& c : box.problem.contacts) c.law.viscous_friction = 1;
  SolvedProblem solved(ContactModel::viscous, box.problem);
  EXPECT_TRUE(solved.certify().ok);
  // The friction is too small to tip the box: v (1 + 4 h nu / m) = v0.
  EXPECT_NEAR(solved.solution.v[3], 1 / (1 + 4 * kTimeStep), 1e-12);
}

TEST(StewartTrinkle, BoxSlidesByExactlyMuG) {
  Box box(0, 0.3);
  box.problem.v0[3] = 1;
  SolvedProblem solved(ContactModel::stewart_trinkle, box.problem);
  EXPECT_TRUE(solved.certify().ok);
  EXPECT_NEAR(solved.solution.v[3], 1 - 0.3 * kGravity * kTimeStep, 1e-12);
}

// Joints fix a contact up to the round-off of projections, and a limit moves.
TEST(StewartTrinkle, RoundOffDoesNotMoveContactsThatCannotMove) {
  const std::vector<double> N = {-1.4e-32, 3.7e-49, 0, 0.96}, b = {0, 0};
  const std::vector<double> T = {2.6e-17, 6.6e-34, 2.6e-17, 6.6e-34}, b_t = {0, 0};
  const std::vector<double> mu = {1}, u_hat = {-0.76, -0.0165 / 0.96};
  ReducedProblem problem;
  problem.num_columns = 2;
  problem.num_contacts = 1;
  problem.num_unilateral = 2;
  problem.N = N;
  problem.b_n = b;
  problem.T = T;
  problem.b_t = b_t;
  problem.mu = mu;
  problem.u_hat = u_hat;
  ReducedSolution solution;
  const auto law = make_friction_polygon_law(4);
  ASSERT_TRUE(law->solve(problem, &solution).is_solved());
  EXPECT_LE(solution.impulses.unilateral[0], 1);
  EXPECT_NEAR(solution.impulses.unilateral[1], 0.0165 / (0.96 * 0.96), 1e-12);
  EXPECT_NEAR(solution.u[0], -0.76, 1e-14);
  EXPECT_NEAR(solution.u[1], 0, 1e-12);

  // The contact cannot follow a correction, so the report names its row.
  const std::vector<double> correction = {-0.1, 0};
  problem.b_n = correction;
  const numerics::LcpReport report = law->solve(problem, &solution);
  EXPECT_EQ(report.status, numerics::LcpStatus::kInfeasible);
  EXPECT_EQ(report.row, 0);
}

TEST(StewartTrinkle, PolygonOfManyEdgesApproachesTheCone) {
  Box box(0, 0.3);
  const double angle = 0.4;
  box.problem.v0[3] = std::cos(angle);
  box.problem.v0[4] = std::sin(angle);
  for (const int k : {4, 8, 32}) {
    SolverOptions options;
    options.parameters.friction_directions = k;
    SolvedProblem solved(ContactModel::stewart_trinkle, box.problem, options);
    EXPECT_TRUE(solved.certify().ok);
    double f[2] = {};
    for (const auto& impulse : solved.solution.impulses)
      for (int t = 0; t < 2; ++t) f[t] += impulse[t];
    const double bound = 0.3 * kGravity * kTimeStep;
    EXPECT_NEAR(std::hypot(f[0], f[1]), bound, 1e-12);
    // The nearest corner of the polygon opposes the slip.
    EXPECT_LE(std::abs(std::remainder(std::atan2(-f[1], -f[0]) - angle, 2 * std::numbers::pi)),
              std::numbers::pi / k);
  }
}

TEST(DrumwrightShell, HasNoMoreEnergyThanWithoutFriction) {
  std::mt19937_64 rng(3);
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 20; ++trial) {
    Box box(0, 0.4);
    for (double& v : box.problem.v0) v = normal(rng);
    SolvedProblem solved(ContactModel::drumwright_shell, box.problem);
    const certificate::Certificate with = solved.certify();
    EXPECT_TRUE(with.ok) << with.relative_residual << " " << with.max_cone_excess << " "
                         << with.min_normal_impulse << " " << with.energy_gain;
    Box smooth(0, 0);
    smooth.problem.v0 = box.problem.v0;
    SolvedProblem without(ContactModel::drumwright_shell, smooth.problem);
    EXPECT_LE(with.energy_gain, without.certify().energy_gain + 1e-12);
  }
}

/// Makes a random problem without rows, and with gaps that do not conflict.
ContactProblem make_random(std::mt19937_64* rng) {
  support::RandomProblemOptions options;
  options.num_rows = 0;
  options.prescribed_motion = false;
  ContactProblem problem = support::make_random_problem(options, rng);
  for (std::size_t i = 0; i < problem.contacts.size(); ++i) {
    problem.contacts[i].phi0 = i % 3 == 0 ? 2e-4 : 0;
    problem.contacts[i].law.viscous_friction = static_cast<double>(i % 4);
  }
  return problem;
}

/// Finds the point nearest to v* in the norm of A with N v + b >= 0, by alternating projections on
/// the half-spaces (Dykstra). It is slow and shares nothing with pivoting.
VectorXd project_by_brute_force(const MatrixXd& A, const VectorXd& v_star, const MatrixXd& N,
                                const VectorXd& b) {
  const Eigen::LLT<MatrixXd> llt(A);
  const MatrixXd W = llt.solve(N.transpose());  // A^-1 N^T
  VectorXd v = v_star;
  VectorXd z = VectorXd::Zero(N.rows());
  for (int sweep = 0; sweep < 200000; ++sweep) {
    double change = 0;
    for (int i = 0; i < N.rows(); ++i) {
      const double d = N.row(i).dot(W.col(i));
      if (d < 1e-12) continue;
      const double next = std::max(0.0, z[i] - (N.row(i).dot(v) + b[i]) / d);
      v += (next - z[i]) * W.col(i);
      change = std::max(change, std::abs(next - z[i]) * std::sqrt(d));
      z[i] = next;
    }
    if (change < 1e-14) break;
  }
  return v;
}

TEST(Viscous, RandomProblemsEqualBruteForce) {
  std::mt19937_64 rng(7);
  for (int trial = 0; trial < 20; ++trial) {
    SolvedProblem solved(ContactModel::viscous, make_random(&rng));
    const ContactProblem& problem = solved.problem;
    EXPECT_TRUE(solved.certify().ok);
    const support::DenseProblem dense(problem);
    const double h = problem.time_step;
    MatrixXd A = dense.A;
    MatrixXd N(problem.num_contacts(), problem.num_dofs());
    VectorXd b(problem.num_contacts());
    VectorXd p = dense.A * dense.v_star;
    for (int i = 0; i < problem.num_contacts(); ++i) {
      const Contact& c = problem.contacts[i];
      N.row(i) = dense.J[i].row(2);
      b[i] = c.phi0 / h;
      // Use the set of sticking contacts of the solution.
      if (c.dim == 1) continue;
      if (c.phi0 > 0 && solved.solution.impulses[i] == std::array<double, 6>{}) continue;
      const MatrixXd T = dense.J[i].topRows(2);
      A += h * c.law.viscous_friction * T.transpose() * T;
    }
    const VectorXd v_hat = A.llt().solve(p);
    const VectorXd exact = project_by_brute_force(A, v_hat, N, b);
    const VectorXd v = support::to_vector(solved.solution.v);
    EXPECT_LE(dense.calc_norm(v - exact), 1e-9) << trial;
  }
}

TEST(NoSlip, RandomProblemsAreCertifiedAndKeepEveryTangent) {
  std::mt19937_64 rng(8);
  SolverOptions as_published;
  as_published.parameters.drop_separating = false;
  for (int trial = 0; trial < 60; ++trial) {
    SolvedProblem solved(ContactModel::no_slip, make_random(&rng), as_published);
    const certificate::Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << trial << " " << certificate.rigid.complementarity << " "
                                << certificate.rigid.constraint_error << " "
                                << certificate.relative_residual;
    EXPECT_LE(certificate.rigid.constraint_error, 1e-9);
    EXPECT_LE(certificate.energy_gain, 1e-12);
    EXPECT_LE(certificate.rigid.num_active, certificate.rigid.max_active);
    // Theorem 1, by singular values.
    const support::DenseProblem dense(solved.problem);
    std::vector<VectorXd> rows;
    bool closes_gap = false;
    for (int i = 0; i < solved.problem.num_contacts(); ++i) {
      const bool has_gap = solved.problem.contacts[i].phi0 > 0;
      const bool is_sticking = solved.problem.contacts[i].dim > 1 &&
                               (!has_gap || solved.solution.impulses[i] != std::array<double, 6>{});
      closes_gap = closes_gap || (is_sticking && has_gap);
      for (int t = 0; t < 2 && is_sticking; ++t) rows.push_back(dense.J[i].row(t).transpose());
    }
    MatrixXd X(rows.size(), solved.problem.num_dofs());
    for (std::size_t i = 0; i < rows.size(); ++i) X.row(i) = rows[i].transpose();
    Eigen::JacobiSVD<MatrixXd> svd(X);
    svd.setThreshold(1e-6);
    int num_dofs = 0;
    for (const contact::IslandStatistics& island : solved.solution.islands)
      num_dofs += island.num_dofs;
    // Rows that are independent by levers shorter than a gap do not count there.
    if (closes_gap)
      EXPECT_GE(certificate.rigid.max_active, num_dofs - svd.rank());
    else
      EXPECT_EQ(certificate.rigid.max_active, num_dofs - svd.rank());
  }
}

TEST(RigidCertificate, FindsEveryKindOfError) {
  Box box;
  box.push(3, 5);
  SolvedProblem solved(ContactModel::no_slip, box.problem);
  const contact::ContactSolution good = solved.solution;
  EXPECT_EQ(std::string(solved.certify().failed.quantity), "");
  const auto expect_fault = [&](const std::string& quantity, auto&& corrupt) {
    contact::ContactSolution bad = good;
    corrupt(&bad);
    const certificate::Certificate certificate = solved.certify(bad);
    EXPECT_FALSE(certificate.ok);
    EXPECT_EQ(certificate.failed.quantity, quantity);
    EXPECT_FALSE(certificate.failed.value <= certificate.failed.limit);
  };
  expect_fault("momentum residual", [](auto* s) { s->v[3] += 1e-4; });
  expect_fault("momentum residual", [](auto* s) { s->impulses[0][0] += 1e-6; });
  expect_fault("complementarity violation",
               [](auto* s) {  // impulses that balance, some of which pull
                 s->impulses[0][2] -= 1;
                 s->impulses[3][2] -= 1;
                 s->impulses[1][2] += 1;
                 s->impulses[2][2] += 1;
               });
  expect_fault("momentum residual", [](auto* s) { s->v[5] = 1e-3; });
  expect_fault("momentum residual", [](auto* s) { s->v[0] = std::nan(""); });
}

}  // namespace
}  // namespace stiction::formulations::rigid_test
