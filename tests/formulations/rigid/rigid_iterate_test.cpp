#include "stiction/formulations/rigid/rigid_iterate.hpp"

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"

namespace stiction::formulations::rigid_iterate_test {
namespace {

using contact::ContactModel;

/// A particle at rest with three contacts: the first has no tangents, the last has a gap of 1 mm.
struct Contacts : RigidFixture {
  RigidMotion motion;

  explicit Contacts(ContactModel model = ContactModel::no_slip)
      : RigidFixture(model, [] {
          contact::ContactProblem problem = make_particle({0, 0, 0});
          add_ground_contact(0, 0.5, &problem).dim = 1;
          add_ground_contact(0, 0.5, &problem);
          add_ground_contact(1e-3, 0.5, &problem);
          return problem;
        }()) {
    motion.contact_velocities.assign(3, math::Vector3::Zero());
    motion.contact_impulses.assign(3, {});
  }
  bool update() { return iterate.sticking.update(terms, iterate.gaps, motion); }
  std::vector<bool> sticking() const {
    return {iterate.sticking.contains(0), iterate.sticking.contains(1),
            iterate.sticking.contains(2)};
  }
};

using Set = std::vector<bool>;

TEST(StickingSet, StartsWithAllTouchingContactsOrWithNone) {
  Contacts contacts;
  EXPECT_EQ(contacts.sticking(), (Set{false, false, false}));
  contacts.iterate.sticking.start(contacts.terms, true);
  EXPECT_EQ(contacts.sticking(), (Set{false, true, false}));
}

TEST(StickingSet, ContactsThatPressOrWouldNotSeparateStick) {
  Contacts contacts;
  EXPECT_TRUE(contacts.update());  // at rest
  EXPECT_EQ(contacts.sticking(), (Set{false, true, false}));
  contacts.motion.contact_impulses[2][2] = 1e-9;  // it has closed its gap
  contacts.motion.contact_velocities[2].z() = -1;
  EXPECT_TRUE(contacts.update());
  EXPECT_EQ(contacts.sticking(), (Set{false, true, true}));
  EXPECT_FALSE(contacts.update());
}

TEST(StickingSet, AContactIsReleasedOnceAndReturnsOnlyIfItPresses) {
  Contacts contacts;
  EXPECT_TRUE(contacts.update());
  contacts.motion.contact_velocities[1].z() = 1e-3;
  EXPECT_TRUE(contacts.update());
  EXPECT_EQ(contacts.sticking(), (Set{false, false, false}));
  contacts.motion.contact_velocities[1].z() = 0;
  EXPECT_FALSE(contacts.update());
  contacts.motion.contact_impulses[1][2] = 1;
  EXPECT_TRUE(contacts.update());
  EXPECT_EQ(contacts.sticking(), (Set{false, true, false}));
  contacts.motion.contact_impulses[1][2] = 0;
  contacts.motion.contact_velocities[1].z() = 1e-3;
  EXPECT_FALSE(contacts.update());  // not released again
}

TEST(StickingSet, AsPublishedSeparatingContactsStick) {
  Contacts contacts;
  contacts.iterate.sticking.start(contacts.terms, true);
  contacts.motion.contact_velocities[1].z() = 1;
  EXPECT_FALSE(contacts.update());
  EXPECT_TRUE(contacts.iterate.sticking.contains(1));
}

TEST(StickingSet, PressingContactsAreAddedAndOthersStay) {
  Contacts contacts;
  contacts.motion.contact_velocities[1].z() = 1e-3;
  for (const int i : {0, 1}) contacts.motion.contact_impulses[i][2] = 1;
  EXPECT_TRUE(contacts.iterate.sticking.add_pressing(contacts.terms, contacts.motion));
  EXPECT_EQ(contacts.sticking(), (Set{false, true, false}));
  EXPECT_FALSE(contacts.iterate.sticking.add_pressing(contacts.terms, contacts.motion));
}

TEST(StickingSet, IsEmptyIfTheLawHasFriction) {
  Contacts contacts(ContactModel::stewart_trinkle);
  contacts.iterate.sticking.start(contacts.terms, true);
  for (auto& impulse : contacts.motion.contact_impulses) impulse[2] = 1;
  EXPECT_FALSE(contacts.update());
  EXPECT_FALSE(contacts.iterate.sticking.add_pressing(contacts.terms, contacts.motion));
  EXPECT_EQ(contacts.sticking(), (Set{false, false, false}));
}

}  // namespace

}  // namespace stiction::formulations::rigid_iterate_test
