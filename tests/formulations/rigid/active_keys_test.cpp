#include "stiction/formulations/rigid/active_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"

namespace stiction::formulations::active_keys_test {
namespace {

using contact::ContactModel;
using contact::ContactProblem;
using contact::RowKind;
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
}  // namespace stiction::formulations::active_keys_test
