// Tests the certificate on solved problems, and on solutions with every kind of error that it must
// find.
#include "stiction/certificate/certifier.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "support/dense_problem.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"

namespace stiction::certificate::certificate_test {
namespace {

using contact::ContactModel;
using contact::ContactSolution;
using Eigen::VectorXd;
using support::SolvedProblem;
using support::to_vector;

constexpr double kTolerance = 1e-5;

/// Returns the contact whose friction dissipates the most, among the islands whose step was not
/// divided; -1 if friction dissipates nothing there. In a divided step the certificate computes the
/// work of friction from the laws of the sub-steps, and not from the impulses of the solution.
int find_rubbing_contact(const SolvedProblem& solved) {
  const SolvedStep step = solved.step();
  int best = -1;
  double largest = 0;
  for (int island = 0; island < step.islands.size(); ++island) {
    if (!step.is_whole(island)) continue;
    for (const int p : step.islands.pairs(island)) {
      const contact::BodyPair& pair = step.problem.pairs[p];
      for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
        const auto& gamma = step.solution.impulses[i];
        const auto& v_c = step.solution.contact_velocities[i];
        const double work = -(gamma[0] * v_c[0] + gamma[1] * v_c[1]);
        if (work <= largest) continue;
        best = i;
        largest = work;
      }
    }
  }
  return best;
}

class CertificateTest : public testing::TestWithParam<ContactModel> {
 protected:
  SolvedProblem solve(const support::RandomProblemOptions& random = {},
                      double tolerance = kTolerance) {
    return {
        GetParam(), support::make_random_problem(random, &rng_), {.relative_tolerance = tolerance}};
  }

  std::mt19937_64 rng_{11};
};

/// Tests of the models with an error bound. They leave out `tamsi`, which has no bound: its divided
/// steps have no allowance for rounding, and its last Newton step leaves a residual below any
/// tolerance.
class BoundTest : public CertificateTest {};

TEST_P(CertificateTest, HoldsForSolvedProblems) {
  for (const double tolerance : {1e-3, 1e-5, 1e-9}) {
    for (int trial = 0; trial < 20; ++trial) {
      SolvedProblem solved = solve({}, tolerance);
      const Certificate certificate = solved.certify();
      EXPECT_TRUE(certificate.ok) << "trial " << trial << " tolerance " << tolerance;
      EXPECT_GE(certificate.min_normal_impulse, 0);
      // At 1e-9 rounding stops the stiffest problem, and round_off says by how much.
      EXPECT_LE(certificate.relative_residual, 1.25 * tolerance + certificate.round_off);
      EXPECT_LE(certificate.round_off, tolerance < 1e-8 ? 1e-6 : 0);
    }
  }
}

// The solver and the certificate read the impulses of the last step, each for itself.
TEST_P(CertificateTest, HoldsForGivenLaggedImpulses) {
  std::uniform_real_distribution<double> uniform;
  for (int trial = 0; trial < 20; ++trial) {
    SolvedProblem solved = solve();
    const ContactSolution without = solved.solution;
    double mean = 0;
    for (const auto& gamma : without.impulses) mean += gamma[2] / without.impulses.size();
    // Half of the contacts are new.
    for (int i = 0; i < solved.problem.num_contacts(); ++i) {
      solved.problem.lagged_impulse.emplace_back();
      const double impulse = mean * uniform(rng_);
      if (i % 2 == 0) solved.problem.lagged_impulse.back() = impulse;
    }
    const ContactSolution with = solved.solve();
    EXPECT_TRUE(solved.certify(with).ok) << "trial " << trial;
    if (contact::traits(GetParam()).lags_friction) {
      EXPECT_FALSE(solved.certify(without).ok) << "trial " << trial;
    } else {
      EXPECT_EQ(with.v, without.v) << "trial " << trial;
    }
  }
}

TEST_P(BoundTest, AllowsForRoundingAndNoMore) {
  // Bodies stick to belts that move at 10 km/s. Their slip of some nm/s is near its rounding error.
  SolvedProblem solved = solve({.num_rows = 0, .all_dims = false});
  for (auto& c : solved.problem.contacts) {
    c.bias = {1e4, 0, 0};
    c.friction = {10, 10, 0, 0, 0};
  }
  ASSERT_TRUE(solved.factor.calc_derived(1, &solved.problem));
  solved.options.parameters.stiction_tolerance = 3e-9;
  solved.options.parameters.friction_regularization = 1e-9;
  solved.options.relative_tolerance = 1e-20;  // below what the solver reaches
  const ContactSolution solution = solved.solve();
  const Certificate certificate = solved.certify(solution);
  EXPECT_TRUE(certificate.ok);
  EXPECT_GT(certificate.round_off, 0);
  EXPECT_LE(certificate.relative_residual, certificate.round_off);

  ContactSolution off = solution;
  for (double& v : off.v) v += 1e4 * certificate.round_off * std::abs(v);
  EXPECT_FALSE(solved.certify(off).ok);
}

TEST_P(BoundTest, ResidualEqualsTheSolversOwn) {
  SolvedProblem solved = solve({}, 1e-2);
  double worst = 0;
  for (const auto& island : solved.solution.islands)
    if (island.residual > solved.options.absolute_tolerance)
      worst = std::max(worst, island.residual / island.scale);
  ASSERT_GT(worst, 0);
  EXPECT_NEAR(solved.certify().relative_residual, worst, 1e-6 * worst + 1e-15);
}

TEST_P(BoundTest, ErrorBoundIsTheDualNormOfTheGradient) {
  for (int trial = 0; trial < 10; ++trial) {
    SolvedProblem solved = solve({}, 1e-2);
    const support::DenseProblem dense(solved.problem);
    const double expected = dense.calc_dual_norm(
        dense.calc_gradient(solved.problem, GetParam(), solved.options.parameters,
                            to_vector(solved.solution.v), solved.solution.normal_bounds));
    double scale = 0;  // of the terms in the gradient
    for (const auto& island : solved.solution.islands) scale = std::max(scale, island.scale);
    // Stiff friction amplifies the rounding of v to 1e-12 of that scale here.
    EXPECT_NEAR(solved.certify().error_bound, expected, 1e-9 * expected + 1e-11 * scale);
  }
}

TEST_P(BoundTest, BoundsTheDistanceToTheExactSolution) {
  std::normal_distribution<double> normal;
  for (int trial = 0; trial < 10; ++trial) {
    SolvedProblem solved = solve({}, 1e-2);
    // The bound concerns one convex problem, and `coulomb` solves another one in each round.
    solved.options.max_rounds = 1;
    solved.solution = solved.solve();
    const support::DenseProblem dense(solved.problem);
    solved.options.relative_tolerance = 1e-13;
    const ContactSolution exact = solved.solve();
    const Certificate of_exact = solved.certify(exact);
    for (const double size : {0.0, 1e-6, 1e-3, 1.0}) {
      ContactSolution candidate = solved.solution;
      for (double& v : candidate.v) v += size * normal(rng_);
      const Certificate certificate = solved.certify(candidate);
      const VectorXd error = to_vector(candidate.v) - to_vector(exact.v);
      EXPECT_LE(dense.calc_norm(error), certificate.error_bound + of_exact.error_bound + 1e-13);
      for (int i = 0; i < solved.problem.num_contacts(); ++i)
        EXPECT_LE((dense.J[i].topRows<3>() * error).norm(),
                  certificate.velocity_bound + of_exact.velocity_bound + 1e-13);
    }
  }
}

TEST_P(BoundTest, BoundEqualsTheErrorWhereNoConstraintActs) {
  SolvedProblem solved = solve({.num_trees = 0, .num_pairs = 3, .num_rows = 0});
  for (contact::Contact& c : solved.problem.contacts) {
    c.phi0 = 1e3;  // far apart
    c.fn0 = -c.law.stiffness * c.phi0;
  }
  ContactSolution candidate = solved.solve();
  const support::DenseProblem dense(solved.problem);
  for (double& v : candidate.v) v += 0.1;
  const double error = dense.calc_norm(to_vector(candidate.v) - dense.v_star);
  EXPECT_NEAR(solved.certify(candidate).error_bound, error, 1e-10 * error);
}

TEST_P(CertificateTest, FindsAWrongVelocity) {
  SolvedProblem solved = solve();
  for (int dof = 0; dof < solved.problem.num_dofs(); dof += 3) {
    ContactSolution wrong = solved.solution;
    wrong.v[dof] += 0.1;
    EXPECT_FALSE(solved.certify(wrong).ok) << "dof " << dof;
  }
}

TEST_P(CertificateTest, FindsAWrongVelocityOfAFreeBody) {
  // A free body is in no island: nothing touches it, and the solver leaves it at v*.
  SolvedProblem solved = solve({.num_bodies = 12, .num_trees = 2, .num_pairs = 2, .num_rows = 0});
  int num_free = 0;
  for (int block = 0; block < solved.problem.num_blocks(); ++block) {
    if (solved.islands.island_of_block(block) >= 0) continue;
    ++num_free;
    ContactSolution wrong = solved.solution;
    wrong.v[solved.problem.dof_start[block]] += 1e-3;
    const Certificate certificate = solved.certify(wrong);
    EXPECT_FALSE(certificate.ok) << "block " << block;
    const support::DenseProblem dense(solved.problem);
    EXPECT_GE(certificate.error_bound * (1 + 1e-9),
              dense.calc_norm(to_vector(wrong.v) - to_vector(solved.solution.v)));
  }
  EXPECT_GT(num_free, 3);
}

TEST_P(CertificateTest, FindsAFalsifiedImpulse) {
  SolvedProblem solved = solve();
  for (int i = 0; i < solved.problem.num_contacts(); ++i) {
    for (int component = 0; component < 6; ++component) {
      ContactSolution wrong = solved.solution;
      wrong.impulses[i][component] += 0.01;
      const Certificate certificate = solved.certify(wrong);
      EXPECT_FALSE(certificate.ok) << "contact " << i << " component " << component;
      EXPECT_NEAR(certificate.impulse_error, 0.01, 1e-6);
    }
  }
  for (int i = 0; i < solved.problem.num_rows(); ++i) {
    ContactSolution wrong = solved.solution;
    wrong.row_impulses[i] -= 0.01;
    EXPECT_FALSE(solved.certify(wrong).ok) << "row " << i;
  }
}

TEST_P(CertificateTest, FindsAdhesion) {
  SolvedProblem solved = solve();
  ContactSolution wrong = solved.solution;
  wrong.impulses[2][2] = -0.02;
  const Certificate certificate = solved.certify(wrong);
  EXPECT_FALSE(certificate.ok);
  EXPECT_EQ(certificate.min_normal_impulse, -0.02);
}

TEST_P(CertificateTest, FindsFrictionBeyondItsCone) {
  SolvedProblem solved = solve({.all_dims = false});
  const int i = find_rubbing_contact(solved);
  ASSERT_GE(i, 0) << "no contact rubs in an undivided step";
  ContactSolution wrong = solved.solution;
  for (int e = 0; e < 2; ++e) wrong.impulses[i][e] *= 1.5;
  const double friction = std::hypot(wrong.impulses[i][0], wrong.impulses[i][1]);
  const Certificate certificate = solved.certify(wrong);
  EXPECT_FALSE(certificate.ok);
  // The excess is a third of the friction, minus the distance to the cone before the change.
  EXPECT_GT(certificate.max_cone_excess, 0.2 * friction);
  EXPECT_LE(certificate.max_cone_excess, 0.34 * friction);
}

TEST_P(CertificateTest, FindsFrictionThatDrives) {
  SolvedProblem solved = solve({.all_dims = false, .prescribed_motion = false});
  const int i = find_rubbing_contact(solved);
  ASSERT_GE(i, 0) << "no contact rubs in an undivided step";
  const auto& v_c = solved.solution.contact_velocities[i];
  ContactSolution wrong = solved.solution;
  for (int e = 0; e < 2; ++e) wrong.impulses[i][e] *= -1;
  const double work = wrong.impulses[i][0] * v_c[0] + wrong.impulses[i][1] * v_c[1];
  ASSERT_GT(work, 1e-6);
  const Certificate certificate = solved.certify(wrong);
  EXPECT_FALSE(certificate.ok);
  EXPECT_NEAR(certificate.max_friction_work, work, 1e-9 * work);
}

TEST_P(CertificateTest, RefusesNaN) {
  SolvedProblem solved = solve({.num_bodies = 8});
  for (int dof = 0; dof < solved.problem.num_dofs(); dof += 5) {
    ContactSolution wrong = solved.solution;
    wrong.v[dof] = std::nan("");
    EXPECT_FALSE(solved.certify(wrong).ok) << "dof " << dof;
  }
  for (int component = 0; component < 6; ++component) {
    ContactSolution wrong = solved.solution;
    wrong.impulses[0][component] = std::nan("");
    EXPECT_FALSE(solved.certify(wrong).ok) << "component " << component;
  }
  ContactSolution wrong = solved.solution;
  wrong.row_impulses[0] = std::nan("");
  EXPECT_FALSE(solved.certify(wrong).ok);
}

INSTANTIATE_TEST_SUITE_P(Models, CertificateTest, testing::ValuesIn(support::compliant_models()),
                         support::model_name);
INSTANTIATE_TEST_SUITE_P(Models, BoundTest, testing::ValuesIn(support::convex_models()),
                         support::model_name);

}  // namespace
}  // namespace stiction::certificate::certificate_test
