// Every law acts from as far as its reach says, and no farther.
#include "stiction/contact/reach.hpp"

#include <random>

#include <gtest/gtest.h>

#include "formulations/law_under_test.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;

class ReachOf : public testing::TestWithParam<ContactModel> {};

TEST_P(ReachOf, TheLawIsWhereItsImpulseEnds) {
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  int num_apart = 0;
  for (LawStart start : make_law_starts()) {
    contact::Contact& c = start.contact;
    const bool is_damped = c.dissipation > 0;
    const LawUnderTest law = make_law(GetParam(), start, {});
    const contact::Reach reach = contact::calc_reach(GetParam(), start.time_step, c);
    for (int trial = 0; trial < 50; ++trial) {
      const Eigen::Vector3d v(3 * normal(rng), 3 * normal(rng), normal(rng));
      const double distance = reach.calc_distance(v.z(), v.head<2>().norm());
      const double impulse = law.impulse(v).z();
      // The norm of a slip is soft: less than the slip by at most the slip tolerance.
      const double soft = reach.time * reach.slip * law.slip_scale;
      if (c.phi0 >= distance) {
        EXPECT_EQ(impulse, 0) << "v_c " << v.transpose() << " phi0 " << c.phi0;
        ++num_apart;
      } else if (c.phi0 < distance - soft && !is_damped) {  // dissipation ends a law earlier
        EXPECT_GT(impulse, 0) << "v_c " << v.transpose() << " phi0 " << c.phi0;
      }
    }
  }
  EXPECT_GT(num_apart, 100);
}

INSTANTIATE_TEST_SUITE_P(Models, ReachOf,
                         testing::Values(ContactModel::sap, ContactModel::lagged,
                                         ContactModel::lagged_regularized, ContactModel::similar),
                         [](const auto& info) {
                           return std::string(contact::traits(info.param).name);
                         });

TEST(Reach, IsThatOfThePapersTable) {
  contact::Contact c;
  c.friction = {0.4, 0.6};
  c.relaxation_time = 3e-3;
  const double slip = 2, dt = 2e-3;
  const auto gap = [&](ContactModel model) {
    return contact::calc_reach(model, dt, c).calc_distance(0, slip);
  };
  EXPECT_EQ(gap(ContactModel::lagged), 0);
  EXPECT_EQ(gap(ContactModel::lagged_regularized), 0);
  EXPECT_DOUBLE_EQ(gap(ContactModel::similar), 0.5 * dt * slip);
  EXPECT_DOUBLE_EQ(gap(ContactModel::sap), 0.5 * (dt + 3e-3) * slip);
  c.dim = 1;  // frictionless
  EXPECT_EQ(gap(ContactModel::sap), 0);
}

}  // namespace
}  // namespace stiction::formulations
