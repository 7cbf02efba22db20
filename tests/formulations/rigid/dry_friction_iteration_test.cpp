#include "stiction/formulations/rigid/dry_friction_iteration.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "formulations/rigid/rigid_fixture.hpp"
#include "stiction/formulations/rigid/rigid_tolerances.hpp"

namespace stiction::formulations {
namespace {

using contact::ContactModel;
using contact::RowKind;

constexpr double kBound = 0.3, kSlipTolerance = 1e-4;

/// A particle whose dofs are dry joints. Without friction it would move at v_star.
struct DryJoints : RigidFixture {
  RigidMotion motion;

  explicit DryJoints(const std::vector<double>& v_star)
      : RigidFixture(ContactModel::no_slip, [&] {
          contact::ContactProblem problem = make_particle(v_star);
          for (int dof = 0; dof < 3; ++dof) {
            contact::Row& row = add_row(RowKind::kFriction, dof, 0, &problem);
            row.bound = kBound;
            row.slip_tolerance = kSlipTolerance;
          }
          return problem;
        }()) {
    EXPECT_TRUE(whiten_all());
    iterate.friction.calc_mobilities(terms, system.whitened.whitening);
  }

  /// Computes v and impulses for the present linearization,
  /// m (v - v*) = impulse - weight (v - velocity).
  void solve() {
    motion.v.resize(3);
    motion.row_impulses.resize(3);
    for (const LinearizedFriction& joint : iterate.friction.joints()) {
      const double free = terms.v_star[joint.row] + joint.impulse + joint.weight * joint.velocity;
      motion.v[joint.row] = free / (1 + joint.weight);
      motion.row_impulses[joint.row] = joint.calc_impulse(motion.v[joint.row]);
    }
  }
};

double calc_law(double v) { return -kBound * v / std::hypot(v, kSlipTolerance); }

TEST(DryFrictionIteration, MobilityLeavesOutTheRowsOwnWeight) {
  const DryJoints joints({0, 0, 0});
  ASSERT_EQ(joints.iterate.friction.joints().size(), 3u);
  for (const LinearizedFriction& joint : joints.iterate.friction.joints()) {
    EXPECT_NEAR(joint.weight, kBound / kSlipTolerance, 1e-9);
    EXPECT_NEAR(joint.mobility, 1, 1e-9);  // 1 / (1 kg)
  }
}

TEST(DryFrictionIteration, OneRoundSolvesAJointThatIsAloneInItsIsland) {
  // The joint sticks, starts to slide, or slides, in both directions.
  for (const double v_star : {1e-3, 0.2999, 0.3001, 2.0, -0.1, -5.0}) {
    DryJoints joints({v_star, 0, -v_star});
    joints.solve();
    (void)joints.iterate.friction.update(joints.terms, joints.motion, kFrictionTolerance);
    joints.solve();
    EXPECT_TRUE(joints.iterate.friction.update(joints.terms, joints.motion, kFrictionTolerance));
    for (int i = 0; i < 3; ++i) {
      const double v = joints.motion.v[i];
      EXPECT_NEAR(v - joints.terms.v_star[i], calc_law(v), kFrictionTolerance * kBound);
    }
  }
}

TEST(DryFrictionIteration, LinearizesTheLawAtAPointOfItsCurve) {
  DryJoints joints({1, 0.1, -0.3});
  joints.solve();
  EXPECT_FALSE(joints.iterate.friction.update(joints.terms, joints.motion, kFrictionTolerance));
  for (const LinearizedFriction& joint : joints.iterate.friction.joints()) {
    EXPECT_NEAR(joint.impulse, calc_law(joint.velocity), 1e-15);
    EXPECT_EQ(joint.calc_impulse(joint.velocity), joint.impulse);
    const double dv = 1e-9;
    const double slope = (calc_law(joint.velocity + dv) - calc_law(joint.velocity - dv)) / (2 * dv);
    EXPECT_NEAR(joint.weight, -slope, 1e-4 * (1 + joint.weight));
  }
}

TEST(DryFrictionIteration, FrozenImpulsesDoNotDependOnTheVelocity) {
  DryJoints joints({1, 0.1, -0.3});
  joints.solve();
  joints.iterate.friction.freeze(joints.motion);
  for (const LinearizedFriction& joint : joints.iterate.friction.joints())
    for (const double v : {-1.0, 0.0, 3.0})
      EXPECT_EQ(joint.calc_impulse(v), joints.motion.row_impulses[joint.row]);
}

}  // namespace
}  // namespace stiction::formulations
