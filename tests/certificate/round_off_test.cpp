#include "stiction/certificate/round_off.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stiction/certificate/plain_kinematics.hpp"
#include "stiction/certificate/reference_laws.hpp"
#include "stiction/contact/momentum_factor.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"

namespace stiction::certificate::round_off_test {
namespace {

/// Returns J^T gamma, size num_dofs, where gamma are the impulses of the laws at v.
std::vector<double> calc_impulse(const ContactProblem& problem, ContactModel model,
                                 const ModelParameters& parameters, const std::vector<double>& v) {
  std::vector<double> sum(problem.num_dofs());
  for (const BodyPair& pair : problem.pairs) {
    double V0[6], V[6], F[6] = {0, 0, 0, 0, 0, 0};
    calc_pair_motion(problem, pair, problem.v0, V0);
    calc_pair_motion(problem, pair, v, V);
    for (int i = pair.first_contact; i < pair.first_contact + pair.num_contacts; ++i) {
      const Contact& c = problem.contacts[i];
      const auto law = calc_reference_impulse(model, parameters, c,
                                              {.time_step = problem.time_step,
                                               .w = problem.delassus[i],
                                               .v_n0 = calc_contact_velocity(c, V0)[2]},
                                              calc_contact_velocity(c, V));
      add_contact_wrench(c, law.gamma, F);
    }
    add_pair_force(problem, pair, F, sum);
  }
  for (const Row& row : problem.rows)
    add_row_force(problem, row, calc_reference_row_impulse(row, calc_row_velocity(problem, row, v)),
                  sum);
  return sum;
}

class RoundOffTest : public testing::TestWithParam<ContactModel> {};

TEST_P(RoundOffTest, BoundsTheChangeOfImpulsesWhenVelocitiesAreRounded) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> ulp(-1.0, 1.0);
  for (int trial = 0; trial < 20; ++trial) {
    ContactProblem problem = support::make_random_problem({}, &rng);
    contact::MomentumFactor factor;
    ASSERT_TRUE(factor.calc_derived(1, &problem));
    const std::vector<double>& v = problem.v_star;
    const ModelParameters parameters;
    ContactSolution solution;
    solution.v = v;
    RoundOff round_off;
    round_off.calc_laws({.problem = problem,
                         .islands = {},
                         .model = GetParam(),
                         .parameters = parameters,
                         .relative_tolerance = 1e-5,
                         .absolute_tolerance = 1e-14,
                         .solution = solution});
    const std::vector<double> exact = calc_impulse(problem, GetParam(), parameters, v);
    double largest_change = 0, largest_allowance = 0;
    for (int sample = 0; sample < 50; ++sample) {
      std::vector<double> rounded = v;
      for (double& x : rounded) x *= 1 + 1e-16 * ulp(rng);
      const std::vector<double> moved = calc_impulse(problem, GetParam(), parameters, rounded);
      for (int i = 0; i < problem.num_dofs(); ++i) {
        const double change = std::abs(moved[i] - exact[i]);
        EXPECT_LE(change, round_off.laws()[i]) << "trial " << trial << " dof " << i;
        largest_change = std::max(largest_change, change);
        largest_allowance = std::max(largest_allowance, round_off.laws()[i]);
      }
    }
    EXPECT_GT(largest_change, 0);
    // The allowance must not be so large that it hides errors.
    EXPECT_LE(largest_allowance, 1e4 * largest_change);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RoundOffTest, testing::ValuesIn(support::compliant_models()),
                         support::model_name);

}  // namespace
}  // namespace stiction::certificate::round_off_test
