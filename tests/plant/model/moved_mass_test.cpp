#include "stiction/plant/model/model.hpp"

#include <gtest/gtest.h>

#include "plant/rows/plant_problem.hpp"

namespace stiction::plant::moved_mass_test {
namespace {

using support::Scene;

/// Returns the mass of the only pair of bodies in contact.
double find_pair_mass(const std::string& worldbody, const std::string& more = "") {
  Scene scene(support::make_mjcf("", "<worldbody>" + worldbody + "</worldbody>" + more));
  const PlantProblem p(scene);
  EXPECT_EQ(p.problem.pairs.size(), 1u);
  return p.problem.pairs.empty() ? 0 : p.problem.pairs[0].reduced_mass();
}

const std::string kFloor = R"(<geom type="plane" size="9 9 1"/>)";

TEST(MovedMass, FreeBodyHasItsMass) {
  EXPECT_DOUBLE_EQ(find_pair_mass(kFloor + R"(<body pos="0 0 0.09"><freejoint/>
    <geom size="0.1" mass="3"/></body>)"),
                   3);
}

TEST(MovedMass, TwoFreeBodiesHaveTheirReducedMass) {
  EXPECT_DOUBLE_EQ(find_pair_mass(R"(
    <body><freejoint/><geom size="0.1" mass="3"/></body>
    <body pos="0 0 0.19"><freejoint/><geom size="0.1" mass="6"/></body>)"),
                   2);
}

TEST(MovedMass, HingeHasTheMassBehindItAndArmatureAddsToIt) {
  const auto make = [](const std::string& armature) {
    return kFloor + R"(<body pos="0 0 0.5"><joint axis="0 1 0" armature=")" + armature +
           R"("/><geom size="0.1" pos="0 0 -0.2" mass="1" contype="0" conaffinity="0"/>
      <body pos="0 0 -0.41"><geom size="0.1" mass="2"/></body></body>)";
  };
  EXPECT_NEAR(find_pair_mass(make("0")), 3, 1e-12);
  // I = 1 * 0.2^2 + 2 * 0.41^2 and 2/5 m r^2 of each sphere.
  const double inertia = 0.04 + 2 * 0.41 * 0.41 + 0.4 * 3 * 0.01;
  EXPECT_NEAR(find_pair_mass(make("0.7")), 3 * (1 + 0.7 / inertia), 1e-12);
}

TEST(MovedMass, SlideHasTheMassBehindItAndItsArmature) {
  EXPECT_NEAR(find_pair_mass(kFloor + R"(<body pos="0 0 0.09"><joint type="slide" axis="0 0 1"
    armature="0.5"/><geom size="0.1" mass="2"/></body>)"),
              2.5, 1e-12);
}

TEST(MovedMass, LinksOfOneTreeMoveWhatIsBeyondTheirCommonBody) {
  // A hand of 1 kg and a head of 2 kg on a trunk of 100 kg. The trunk's own motion does not count.
  EXPECT_NEAR(find_pair_mass(R"(<body><freejoint/><geom size="0.1" mass="100" contype="0"
    conaffinity="0"/>
    <body pos="1 0 0"><joint axis="0 1 0"/><geom size="0.1" mass="1"/></body>
    <body pos="1 0 0.19"><joint axis="0 1 0"/><geom size="0.1" mass="2"/></body></body>)"),
              2.0 / 3, 1e-12);
}

TEST(MovedMass, ContactAtTheAxisOfALinkHasABoundedStiffness) {
  // The link overlaps its static base at the hinge, and the normal passes near the axis.
  for (const double lever : {1e-2, 1e-4, 1e-6}) {
    Scene scene(support::make_mjcf(R"(timestep="0.002")", R"(<worldbody>
      <geom size="0.03" pos="0 0 -0.04"/>
      <body><joint axis="0 1 0" pos=")" + std::to_string(lever) +
                                                              R"( 0 0"/>
        <geom size="0.02" mass="0.5"/></body></worldbody>)"));
    const PlantProblem p(scene);
    ASSERT_EQ(p.problem.num_contacts(), 1);
    // Twice the mass on a spring whose period is the time step.
    EXPECT_LE(p.problem.contacts[0].law.stiffness, 2 * 0.5 * std::pow(2 * 3.1416 / 0.002, 2));
  }
}

}  // namespace
}  // namespace stiction::plant::moved_mass_test
