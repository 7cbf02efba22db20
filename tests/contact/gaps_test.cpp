#include <random>

#include <gtest/gtest.h>

#include "stiction/contact/custom_law.hpp"
#include "stiction/contact/gaps.hpp"
#include "support/law_under_test.hpp"
#include "support/models.hpp"

namespace stiction::formulations::gaps_test {

// Tests that every law acts up to the distance that its reach gives, and not beyond it.
namespace {

using contact::ContactModel;
using support::LawStart;
using support::LawUnderTest;
using support::make_law;
using support::make_law_starts;

struct Case {
  ContactModel model;
  contact::NormalLawKind law;
};
std::string describe(const Case& c) {
  return std::string(contact::traits(c.model).name).append("_").append(contact::traits(c.law).name);
}
void PrintTo(const Case& c, std::ostream* out) { *out << describe(c); }

class ReachOfLaw : public testing::TestWithParam<Case> {};

TEST_P(ReachOfLaw, IsTheDistanceAtWhichTheImpulseEnds) {
  const auto [model, kind] = GetParam();
  contact::ModelParameters parameters;
  parameters.normal_law = kind;
  const bool is_damped_law = contact::calc_property_use(model, kind).dissipation;
  std::mt19937_64 rng(1);
  std::normal_distribution<double> normal;
  int num_apart = 0;
  for (LawStart start : make_law_starts()) {
    contact::Contact& c = start.contact;
    const bool is_damped = is_damped_law && c.law.dissipation > 0;
    const LawUnderTest law = make_law(model, start, parameters);
    const contact::Reach reach = contact::calc_reach(model, parameters, start.time_step, c);
    for (int trial = 0; trial < 50; ++trial) {
      const Eigen::Vector3d v{3 * normal(rng), 3 * normal(rng), normal(rng)};
      const double distance = reach.calc_distance(v.z(), v.head<2>().norm());
      const double impulse = law.impulse(v).z();
      // The soft norm of a slip is smaller than the slip by at most the slip tolerance.
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

/// Returns all convex models with all laws whose impulse ends at a finite distance.
std::vector<Case> make_cases() {
  std::vector<Case> cases;
  for (const ContactModel model : support::convex_models()) {
    if (!contact::traits(model).takes_laws)
      cases.push_back({model, contact::NormalLawKind::hunt_crossley});
    for (const auto& law : contact::normal_laws())
      if (contact::traits(model).takes_laws && law.law != contact::NormalLawKind::log_barrier)
        cases.push_back({model, law.law});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, ReachOfLaw, testing::ValuesIn(make_cases()),
                         [](const auto& info) { return describe(info.param); });

TEST(Reach, EqualsTheTableOfThePaper) {
  contact::Contact c;
  c.friction = {0.4, 0.6};
  c.law.relaxation_time = 3e-3;
  const double slip = 2, dt = 2e-3;
  const auto gap = [&](ContactModel model) {
    return contact::calc_reach(model, {}, dt, c).calc_distance(0, slip);
  };
  EXPECT_EQ(gap(ContactModel::lagged), 0);
  EXPECT_EQ(gap(ContactModel::lagged_regularized), 0);
  EXPECT_DOUBLE_EQ(gap(ContactModel::similar), 0.5 * dt * slip);
  EXPECT_DOUBLE_EQ(gap(ContactModel::sap), 0.5 * (dt + 3e-3) * slip);
  c.dim = 1;  // frictionless
  EXPECT_EQ(gap(ContactModel::sap), 0);
}

struct Bumper {  // a spring that acts a centimetre before touching
  contact::NormalForce calc_force(double x, double) const noexcept {
    return x > -0.01 ? contact::NormalForce{1e4 * (x + 0.01), 1e4, 0} : contact::NormalForce{};
  }
  double reach() const noexcept { return 0.01; }
};

TEST(Reach, IncludesTheReachOfTheNormalLaw) {
  contact::Contact c;
  c.law.barrier_thickness = 3e-4;
  c.law.relaxation_time = 0.02;
  contact::ModelParameters parameters;
  const auto reach = [&](contact::NormalLawKind law, ContactModel model) {
    parameters.normal_law = law;
    return contact::calc_reach(model, parameters, 1e-3, c);
  };
  using contact::NormalLawKind;
  EXPECT_EQ(reach(NormalLawKind::ipc_barrier, ContactModel::lagged).distance, 3e-4);
  EXPECT_DOUBLE_EQ(reach(NormalLawKind::log_barrier, ContactModel::lagged).distance, 0.3);
  EXPECT_DOUBLE_EQ(reach(NormalLawKind::linear, ContactModel::lagged).time, 0.021);
  EXPECT_EQ(reach(NormalLawKind::ipc_barrier, ContactModel::sap).distance, 0) << "has its own law";
  parameters.custom_law = contact::make_custom_law(Bumper{});
  EXPECT_EQ(reach(NormalLawKind::custom, ContactModel::similar).distance, 0.01);
}

}  // namespace

}  // namespace stiction::formulations::gaps_test
