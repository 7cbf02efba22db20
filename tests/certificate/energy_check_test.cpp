#include "stiction/certificate/balance_check.hpp"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "stiction/certificate/certifier.hpp"
#include "support/dense_problem.hpp"
#include "support/models.hpp"
#include "support/random_problem.hpp"
#include "support/solved_problem.hpp"

namespace stiction::certificate::energy_check_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using support::SolvedProblem;

TEST(EnergyCheck, ComparesTheGainWithWhatExplainsIt) {
  const auto is_ok = [](const Energy& energy, double explained, double rounding) {
    Verdict verdict;
    judge_energy(energy, explained, rounding, &verdict);
    return verdict.ok();
  };
  EXPECT_TRUE(is_ok({.gain = -5}, 0, 0));
  EXPECT_TRUE(is_ok({.gain = 3}, 3, 0));
  EXPECT_FALSE(is_ok({.gain = 3}, 2.99, 0));
  EXPECT_TRUE(is_ok({.gain = 3, .residual = 0.02}, 2.99, 0));
  EXPECT_TRUE(is_ok({.gain = 3}, 2.99, 0.02));
  EXPECT_TRUE(is_ok({.gain = 1e-13, .kinetic = 1}, 0, 0));
  EXPECT_FALSE(is_ok({.gain = 1e-11, .kinetic = 1}, 0, 0));
  EXPECT_FALSE(is_ok({.gain = std::nan("")}, 1, 0));
}

class EnergyTest : public testing::TestWithParam<ContactModel> {};

TEST_P(EnergyTest, GainIsTheDifferenceOfKineticEnergies) {
  std::mt19937_64 rng(3);
  for (int trial = 0; trial < 10; ++trial) {
    SolvedProblem solved(GetParam(), support::make_random_problem({}, &rng));
    for (const auto& island : solved.solution.islands)
      if (island.num_substeps > 1) return;  // has the energy of each sub-step
    const support::DenseProblem dense(solved.problem);
    const double after = std::pow(dense.calc_norm(support::to_vector(solved.solution.v)), 2) / 2;
    const double before = std::pow(dense.calc_norm(dense.v_star), 2) / 2;
    EXPECT_NEAR(solved.certify().energy_gain, after - before, 1e-10 * (before + after));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EnergyTest, testing::ValuesIn(support::compliant_models()),
                         support::model_name);
INSTANTIATE_TEST_SUITE_P(RigidModels, EnergyTest, testing::ValuesIn(support::rigid_models()),
                         support::model_name);

/// A body of 1 kg at rest, whose two contacts with the world are still to be added.
/// @param inertia about each axis [kg m^2]
ContactProblem make_body(double inertia) {
  ContactProblem problem;
  problem.clear(1e-3);
  const int block = problem.add_rigid_body();
  for (int i = 0; i < 6; ++i) problem.diagonal(block)[7 * i] = i < 3 ? inertia : 1;
  contact::BodyPair pair;
  pair.num_segments = 1;
  pair.num_contacts = 2;
  pair.masses = {contact::kInfinity, 1};
  problem.pairs.push_back(pair);
  contact::Segment segment;
  segment.block = block;
  segment.is_rigid_body = true;
  problem.segments.push_back(segment);
  return problem;
}

/// A point mass between two walls that it overlaps. The walls make an angle with the horizontal, so
/// their corrections drive it up.
ContactProblem make_wedge(double half_angle, double overlap) {
  ContactProblem problem = make_body(1e3);
  const double c = std::cos(half_angle), s = std::sin(half_angle);
  for (const double side : {-1.0, 1.0}) {
    contact::Contact contact;
    contact.R_WC = {0, 1, 0, -s, 0, side * c, side * c, 0, s};
    contact.phi0 = -overlap;
    contact.dim = 1;
    problem.contacts.push_back(contact);
  }
  return problem;
}

TEST(RigidEnergy, CorrectionsMayLiftABodyOutOfAWedge) {
  SolvedProblem solved(ContactModel::no_slip, make_wedge(0.25, 1e-3));  // 14 degrees
  const Certificate certificate = solved.certify();
  EXPECT_TRUE(certificate.ok) << certificate.failed.quantity;
  EXPECT_NEAR(certificate.energy_gain, 0.5 * std::pow(0.1 / std::sin(0.25), 2), 1e-9);
}

TEST(RigidEnergy, CorrectionsInASharpWedgeAreSlowedDown) {
  for (const double half_angle : {0.2, 0.1, 0.05}) {
    SolvedProblem solved(ContactModel::no_slip, make_wedge(half_angle, 1e-3));
    const Certificate certificate = solved.certify();
    EXPECT_TRUE(certificate.ok) << certificate.failed.quantity;
    // Each of the two faces alone would add 0.5 kg (0.1 m/s)^2, and together they may add nine
    // times as much. The body takes at least the share that the slowdown leaves.
    EXPECT_LE(certificate.energy_gain, 9 * 2 * 0.5 * 0.01 * (1 + 1e-9));
    EXPECT_GE(certificate.energy_gain, 0.8 * 9 * 2 * 0.5 * 0.01);
  }
}

TEST(RigidEnergy, CorrectionsThatNearlyContradictEachOtherFail) {
  // All other conditions hold: both walls push, and the mass leaves the wedge at 20 m/s.
  constexpr double kHalfAngle = 0.005, kCorrection = 0.1;
  SolvedProblem solved(ContactModel::no_slip, make_wedge(kHalfAngle, 1e-3));
  const double speed = kCorrection / std::sin(kHalfAngle);
  contact::ContactSolution thrown = solved.solution;
  thrown.v = {0, 0, 0, 0, 0, speed};
  for (auto& impulse : thrown.impulses) impulse[2] = speed / (2 * std::sin(kHalfAngle));
  const Certificate certificate = solved.certify(thrown);
  EXPECT_NEAR(certificate.energy_gain, 0.5 * speed * speed, 1e-7);
  EXPECT_FALSE(certificate.ok);
  EXPECT_STREQ(certificate.failed.quantity, "energy gain");
}

/// A body that turns at 1 rad/s, with two contacts at points that are 0.5 um apart.
ContactProblem make_short_lever() {
  constexpr double kInertia = 0.01, kLever = 5e-7;
  ContactProblem problem = make_body(kInertia);
  problem.v0[1] = 1;
  for (const double height : {0.0, kLever}) {
    contact::Contact contact;
    contact.R_WC = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    contact.offset = {0, 0, height};
    problem.contacts.push_back(contact);
  }
  return problem;
}

TEST(RigidEnergy, FrictionThatTurnsABodyByAShortLeverFails) {
  // All other conditions hold: the slip of 1e-6 m/s is that of a short lever.
  SolvedProblem solved(ContactModel::no_slip, make_short_lever());
  contact::ContactSolution turned = solved.solution;
  turned.v = {0, 2, 0, 0, 0, 0};
  const double change = turned.v[1] - solved.solution.v[1], friction = 0.01 * change / 5e-7;
  for (const double sign : {-1.0, 1.0})
    turned.impulses[sign > 0] = {sign * friction, 0, 0, 0, 0, 0};
  EXPECT_TRUE(solved.certify().ok);
  const Certificate certificate = solved.certify(turned);
  EXPECT_NEAR(certificate.energy_gain, 0.5 * 0.01 * (4 - 1), 1e-9);
  EXPECT_LE(certificate.rigid.constraint_error, 1e-9);
  EXPECT_FALSE(certificate.ok);
  EXPECT_STREQ(certificate.failed.quantity, "energy gain");
}

/// A mass of 10 kg on a slide with a damper, held at a place that it is 1 m away from.
/// @param damping dt times the damper's coefficient [kg]
ContactProblem make_damped_slide(double damping, double regularization) {
  constexpr double kMass = 10;
  ContactProblem problem;
  problem.clear(2e-3);
  problem.diagonal(problem.add_block(1))[0] = kMass + damping;
  problem.inertia = {kMass};
  contact::Row& row = problem.rows.emplace_back();
  row.kind = contact::RowKind::kEquality;
  row.regularization = regularization;
  row.position = 1;
  row.num_columns = 1;
  problem.row_dof.push_back(0);
  problem.row_columns.push_back(1);
  return problem;
}

// The base of some robots is held by dampers of 1e11 N s/m. A correction that drags it at 0.1 m/s
// needs 1 MJ in 2 ms. The mass would need 0.05 J, and 3600 times as much is allowed.
TEST(RigidEnergy, CorrectionsThatDragAStrongDamperFail) {
  constexpr double kCorrection = 0.1;
  for (const ContactModel model : support::rigid_models()) {
    for (const double regularization : {1e-2, 1e-9}) {
      for (const double damping : {0.0, 1e2, 3e4, 4e4, 1e6, 2e8}) {
        SolvedProblem solved(model, make_damped_slide(damping, regularization));
        contact::ContactSolution dragged = solved.solution;
        dragged.v = {-kCorrection};
        dragged.row_impulses = {-(10 + damping) * kCorrection};
        const Certificate certificate = solved.certify(dragged);
        const double energy = 0.5 * (10 + damping) * kCorrection * kCorrection;
        EXPECT_NEAR(certificate.energy_gain, energy, 1e-9 * energy);
        EXPECT_EQ(certificate.ok, damping < 3.5e4) << damping << certificate.failed.quantity;
        // The solver gives such a correction up.
        EXPECT_TRUE(solved.certify().ok) << damping << " " << regularization;
        if (damping > 1e6) {
          EXPECT_LT(std::abs(solved.solution.v[0]), 1e-3);
        }
      }
    }
  }
}

}  // namespace
}  // namespace stiction::certificate::energy_check_test
