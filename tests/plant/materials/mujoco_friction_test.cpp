#include "stiction/plant/materials/materials.hpp"

#include <string>

#include <gtest/gtest.h>

#include "stiction/plant/collision/geom_pair.hpp"
#include "support/scene.hpp"

namespace stiction::plant::mujoco_friction_test {
namespace {

using support::Scene;

struct Case {
  const char* option;
  const char* priority;
  const char* pair;
  FrictionSource source;
};

/// Returns a scene of a ball on a floor. Their contact has six components.
Scene make_scene(const Case& c) {
  return Scene(std::string("<mujoco><option o_friction='0.3 0.31 0.02 0.003 0.004'>") + c.option +
               "</option><worldbody><geom name='floor' type='plane' size='1 1 1' condim='6'"
               " friction='0.7 0.06 0.005' priority='" +
               c.priority +
               "'/><body pos='0 0 0.1'><freejoint/><geom name='ball' size='0.1' condim='6'"
               " friction='0.9 0.05 0.006'/></body></worldbody>" +
               c.pair + "</mujoco>");
}

constexpr const char* kOverride = "<flag override='enable'/>";
constexpr const char* kPair =
    "<contact><pair geom1='floor' geom2='ball' condim='6'"
    " friction='0.4 0.41 0.01 0.001 0.002'/></contact>";

TEST(MujocoFriction, EqualsTheFrictionOfMuJoCosContact) {
  for (const Case& c :
       {Case{"", "0", "", FrictionSource::kLarger}, Case{"", "1", "", FrictionSource::kPriority},
        Case{"", "-1", "", FrictionSource::kPriority}, Case{"", "1", kPair, FrictionSource::kPair},
        Case{kOverride, "1", "", FrictionSource::kOption},
        Case{kOverride, "0", kPair, FrictionSource::kOption}}) {
    const Scene scene = make_scene(c);
    const int floor = scene.geom("floor"), ball = scene.geom("ball");
    const GeomPair pair = probe_geom_pair(scene.model, floor, ball);
    ASSERT_TRUE(pair.collides);
    constexpr FrictionKind kKinds[] = {FrictionKind::kSliding, FrictionKind::kTorsional,
                                       FrictionKind::kRolling};
    constexpr int kFirst[] = {0, 2, 3};  // in mjContact::friction
    for (int k = 0; k < 3; ++k) {
      const MujocoFriction found =
          find_mujoco_friction(scene.model, {floor, ball}, pair.pair, kKinds[k]);
      EXPECT_EQ(found.source, c.source);
      EXPECT_EQ(found.value, pair.contact.friction[kFirst[k]]) << c.option << c.pair << k;
    }
  }
}

}  // namespace
}  // namespace stiction::plant::mujoco_friction_test
