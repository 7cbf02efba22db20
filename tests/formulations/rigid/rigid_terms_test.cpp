#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/rigid_terms.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations::rigid_terms_test {

// Tests how models sort contacts and rows, and the constants that come from positions.
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;

constexpr double kTimeStep = 1e-3;

/// A particle with a row of each kind and contacts that overlap, touch and have a gap.
ContactProblem make_one_of_each() {
  ContactProblem problem = make_particle({0, 0, 0}, kTimeStep);
  for (const double phi0 : {-1e-5, 5e-7, 1e-4}) add_ground_contact(phi0, 0.5, &problem);
  for (const RowKind kind :
       {RowKind::kEquality, RowKind::kLimit, RowKind::kFriction, RowKind::kSpring}) {
    contact::Row& row = add_row(kind, 0, 0, &problem);
    row.bound = 2;
    row.slip_tolerance = 1e-4;
  }
  return problem;
}

TEST(RigidTerms, RowsAreSortedByTheirRoleInTheModel) {
  for (const ContactModel model : {ContactModel::no_slip, ContactModel::stewart_trinkle}) {
    const RigidFixture fixture(model, make_one_of_each());
    const RigidTerms& terms = fixture.terms;
    const std::vector<int> first = {0}, second = {1}, third = {2}, fourth = {3};
    const bool has_friction = model == ContactModel::stewart_trinkle;
    EXPECT_EQ(terms.law_has_friction(), has_friction);
    EXPECT_EQ(terms.equalities, first);
    EXPECT_EQ(terms.limits, second);
    EXPECT_EQ(terms.springs, fourth);
    EXPECT_EQ(terms.dry_joints, third);
    EXPECT_EQ(terms.friction.dry_bounds, std::vector<double>{2});
    EXPECT_EQ(terms.friction.dry_compliance, std::vector<double>{has_friction ? 0 : 1e-4 / 2});
    EXPECT_EQ(terms.num_unilateral(), 4);
  }
}

TEST(RigidTerms, DryFrictionWithABoundOfZeroHasNoCompliance) {
  ContactProblem problem = make_one_of_each();
  problem.rows[2].bound = 0;
  const RigidFixture fixture(ContactModel::viscous, problem);
  EXPECT_EQ(fixture.terms.friction.dry_bounds, std::vector<double>{0});
  EXPECT_EQ(fixture.terms.friction.dry_compliance, std::vector<double>{0});
}

TEST(RigidTerms, ContactsWithGapsTakePartUnlessTheModelIgnoresGaps) {
  const RigidFixture with(ContactModel::stewart_trinkle, make_one_of_each());
  EXPECT_EQ(with.terms.contacts, (std::vector<int>{0, 1, 2}));
  const RigidFixture without(ContactModel::anitescu_potra, make_one_of_each());
  EXPECT_EQ(without.terms.contacts, (std::vector<int>{0, 1}));
  EXPECT_EQ(without.terms.problem_contact(1), 1);
  EXPECT_EQ(without.terms.island.num_contacts(), 3);
}

TEST(RigidTerms, FrictionOfTheLawIsClampedAndScaledByTheStep) {
  ContactProblem problem = make_particle({0, 0, 0}, kTimeStep);
  problem.v0 = {3, 4, 1};
  add_ground_contact(0, 1e40, &problem);
  contact::Contact& second = add_ground_contact(0, 0.3, &problem);
  second.law.viscous_friction = 7;
  second.bias = {-3, 0, 0};
  const RigidFixture fixture(ContactModel::drumwright_shell, problem);
  const FrictionConstants& friction = fixture.terms.friction;
  EXPECT_EQ(friction.mu, (std::vector<double>{kMaxFriction, 0.3}));
  EXPECT_EQ(friction.nu, (std::vector<double>{0, 7 * kTimeStep}));
  EXPECT_EQ(friction.slip0, (std::vector<double>{5, 4}));
  const RigidFixture no_slip(ContactModel::no_slip, problem);
  EXPECT_TRUE(no_slip.terms.friction.mu.empty());
}

TEST(GapTerms, GapsMayCloseWithinTheStepAndAShareOfOverlapsIsCorrected) {
  ContactProblem problem = make_one_of_each();
  problem.contacts[0].phi0 = -2e-4;
  add_ground_contact(-1, 0.5, &problem);
  problem.rows[0].position = -3e-4;
  problem.rows[1].position = 2e-3;
  add_row(RowKind::kEquality, 1, 5, &problem);
  add_row(RowKind::kLimit, 1, -4e-4, &problem);
  contact::ModelParameters parameters;
  parameters.gap_correction = 0.25;
  parameters.max_correction_speed = 0.3;
  const auto expect_near = [](const std::vector<double>& b, const std::vector<double>& expected) {
    ASSERT_EQ(b.size(), expected.size());
    for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(b[i], expected[i], 1e-15) << i;
  };
  const RigidFixture fixture(ContactModel::no_slip, problem, parameters);
  expect_near(fixture.iterate.gaps.contacts, {-0.05, 5e-4, 0.1, -0.3});
  expect_near(fixture.iterate.gaps.limits, {2, -0.1});
  expect_near(fixture.iterate.gaps.equalities, {-0.075, 0.3});
  // A model without gaps closes contacts within the distance of a touch.
  const RigidFixture touching(ContactModel::anitescu_potra, problem, parameters);
  expect_near(touching.iterate.gaps.contacts, {-0.05, 0, -0.3});
}

TEST(GapTerms, DroppedCorrectionsAreThoseOfOverlapsAndViolatedLimits) {
  GapTerms gaps{.contacts = {-0.1, 2, 0}, .limits = {3, -0.2}, .equalities = {-0.3, 0.4}};
  EXPECT_TRUE(drop_overlap_corrections(&gaps));
  EXPECT_EQ(gaps.contacts, (std::vector<double>{0, 2, 0}));
  EXPECT_EQ(gaps.limits, (std::vector<double>{3, 0}));
  EXPECT_EQ(gaps.equalities, (std::vector<double>{-0.3, 0.4}));
  EXPECT_FALSE(drop_overlap_corrections(&gaps));
}

using Keys = std::vector<std::uint64_t>;

/// Three contacts, the second without an id, and limits on both sides of two dofs.
ContactProblem make_problem() {
  ContactProblem problem = make_particle({0, 0, 0});
  for (const std::uint64_t id : {7, 0, 3}) add_ground_contact(0, 0.5, &problem).id = id;
  for (const int dof : {0, 1})
    for (const double column : {1.0, -1.0}) add_row(RowKind::kLimit, dof, 0, &problem, column);
  return problem;
}

TEST(ActiveKeys, ContactsAreKeyedByIdAndLimitsDifferFromThem) {
  const RigidFixture fixture(ContactModel::no_slip, make_problem());
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6};
  Keys keys;
  find_active_keys(fixture.terms, all, &keys);
  ASSERT_EQ(keys.size(), 6u);  // all but the contact without an id
  EXPECT_EQ(keys[0], 7u);
  EXPECT_EQ(keys[1], 3u);
  EXPECT_EQ(std::set<std::uint64_t>(keys.begin(), keys.end()).size(), 6u);
}

TEST(ActiveKeys, FindTheSameContactsAndLimitsInAnotherOrder) {
  const RigidFixture fixture(ContactModel::no_slip, make_problem());
  Keys keys;
  find_active_keys(fixture.terms, std::vector<int>{6, 2, 3}, &keys);
  std::sort(keys.begin(), keys.end());
  std::vector<int> rows = {99};
  find_active_rows(fixture.terms, keys, &rows);
  EXPECT_EQ(rows, (std::vector<int>{2, 3, 6}));

  ContactProblem next = make_problem();
  std::reverse(next.contacts.begin(), next.contacts.end());
  std::reverse(next.rows.begin(), next.rows.end());
  const RigidFixture reversed(ContactModel::no_slip, next);
  find_active_rows(reversed.terms, keys, &rows);
  EXPECT_EQ(rows, (std::vector<int>{0, 3, 6}));
}

TEST(ActiveKeys, ContactsWithoutAnIdAreNeverFound) {
  const RigidFixture fixture(ContactModel::no_slip, make_problem());
  std::vector<int> rows;
  find_active_rows(fixture.terms, Keys{0}, &rows);
  EXPECT_TRUE(rows.empty());
}

}  // namespace

}  // namespace stiction::formulations::rigid_terms_test
